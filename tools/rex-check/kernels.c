/*
 * kernels.c - the kernels of a device source, and their parameters.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "kernels.h"

#include <string.h>

#include "common/memory.h"

/* ---- parameters ------------------------------------------------------------------------------ */

static bool is_value_type(const struct token *token)
{
    static const char *const types[] = {"char",    "short",    "int",      "long",     "float",
                                        "double",  "unsigned", "signed",   "bool",     "_Bool",
                                        "size_t",  "int8_t",   "int16_t",  "int32_t",  "int64_t",
                                        "uint8_t", "uint16_t", "uint32_t", "uint64_t", NULL};
    return token_is_any(token, types);
}

static void add(struct parameters *parameters, struct parameter parameter)
{
    parameters->list = tool_grow(parameters->list, parameters->count, sizeof *parameters->list);
    parameters->list[parameters->count++] = parameter;
}

/* What a comma, or the bracket, ends. */
static void finish(struct parameters *parameters, struct parameter *parameter, size_t number,
                   size_t first)
{
    static const struct parameter none = {0};
    if (number >= first && parameter->name.length > 0 && !token_is(&parameter->name, "void"))
        add(parameters, *parameter);
    *parameter = none;
}

/*
 * Those in the parentheses at OPEN, without the FIRST ones of them, which are a macro's own. Their
 * types may be in parentheses; their names are not.
 */
static void read_parameters(struct parameters *parameters, const struct tokens *tokens, size_t open,
                            size_t first)
{
    struct parameter parameter = {0};
    size_t number = 0, close = token_closing(tokens, open), depth = 0;
    for (size_t i = open + 1; i < close; i++) {
        const struct token *token = &tokens->list[i];
        depth -= token_is(token, ")") || token_is(token, "]") || token_is(token, "}");
        if (token_is(token, ",") && depth == 0)
            finish(parameters, &parameter, number++, first);
        else if (token_is(token, "*") || token_is(token, "["))
            parameter.kind = PARAMETER_POINTER;
        else if (parameter.kind == PARAMETER_UNKNOWN && is_value_type(token))
            parameter.kind = PARAMETER_VALUE;
        if (token->kind == TOKEN_NAME && depth == 0)
            parameter.name = *token;
        depth += token_is(token, "(") || token_is(token, "[") || token_is(token, "{");
    }
    finish(parameters, &parameter, number, first);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Its parameters are in the parentheses at OPEN, behind OWN arguments of a macro. */
static void add_kernel(struct sources *sources, struct source_kernel kernel,
                       const struct tokens *tokens, size_t open, size_t own)
{
    read_parameters(&kernel.parameters, tokens, open, own);
    sources->kernels = tool_grow(sources->kernels, sources->kernel_count, sizeof *sources->kernels);
    sources->kernels[sources->kernel_count++] = kernel;
}

/* extern "C" in front of __global__ at INDEX, in the same declaration. */
static bool says_c(const struct tokens *tokens, size_t index)
{
    while (index-- > 0 && !token_is(&tokens->list[index], ";") &&
           !token_is(&tokens->list[index], "}") && !token_is(&tokens->list[index], "__global__"))
        if (tokens->list[index].kind == TOKEN_STRING && tokens->list[index].length == 1 &&
            *tokens->list[index].text == 'C')
            return true;
    return false;
}

/*
 * `void NAME(parameters) {` behind __global__ at INDEX; launch bounds and attributes may stand
 * between.
 */
static void read_global(struct sources *sources, const char *path, const struct tokens *tokens,
                        size_t index, bool c_linkage)
{
    const struct token *name = NULL;
    for (size_t i = index + 1;
         i < tokens->count && !token_is(&tokens->list[i], ";") && !token_is(&tokens->list[i], "{");
         i++) {
        if (token_is(&tokens->list[i], "__global__"))
            return;
        if (!token_is(&tokens->list[i], "(")) {
            name = tokens->list[i].kind == TOKEN_NAME ? &tokens->list[i] : name;
            continue;
        }
        size_t close = token_closing(tokens, i);
        bool bounds = name == NULL || token_is(name, "__launch_bounds__") ||
                      token_is(name, "__attribute__") || token_is(name, "__maxnreg__");
        if (!bounds && token_is(token_at(tokens, close + 1), "{"))
            add_kernel(sources,
                       (struct source_kernel){.at = source_position(path, tokens, index),
                                              .name = token_string(name),
                                              .c_linkage = c_linkage || says_c(tokens, index)},
                       tokens, i, 0);
        if (!bounds)
            return;
        i = close;
    }
}

static void add_macro_kernel(struct sources *sources, const char *path, const struct tokens *tokens,
                             size_t index, const char *infix, size_t own)
{
    const struct token *stem = source_argument(tokens, index);
    if (stem != NULL)
        add_kernel(sources,
                   (struct source_kernel){
                       .at = source_position(path, tokens, index),
                       .name = tool_format("%.*s%skernel__", (int)stem->length, stem->text, infix),
                       .c_linkage = true,
                       .by_macro = true},
                   tokens, index + 1, own);
}

void kernels_read(struct sources *sources, const char *path, const struct tokens *tokens)
{
    size_t c_until = 0; /* the end of extern "C" { */
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->list[i];
        if (token_is(token, "extern") && token_at(tokens, i + 1)->kind == TOKEN_STRING &&
            token_is(token_at(tokens, i + 2), "{"))
            c_until = token_closing(tokens, i + 2);
        else if (token_is(token, "__global__"))
            read_global(sources, path, tokens, i, i < c_until);
        else if (token_is(token, "REX_DEVICE_KERNEL") || token_is(token, "REX_DEVICE_KERNEL_ENV"))
            add_macro_kernel(sources, path, tokens, i, "__", 1);
        else if (token_is(token, "REX_DEVICE_KERNEL_BOUNDS") ||
                 token_is(token, "REX_DEVICE_KERNEL_ENV_BOUNDS"))
            add_macro_kernel(sources, path, tokens, i, "__", 2);
        else if (token_is(token, "REX_DEVICE_KERNEL_STEM") ||
                 token_is(token, "REX_DEVICE_KERNEL_ENV_STEM"))
            add_macro_kernel(sources, path, tokens, i, "", 1);
        else if (token_is(token, "REX_DEVICE_KERNEL_BOUNDS_STEM") ||
                 token_is(token, "REX_DEVICE_KERNEL_ENV_BOUNDS_STEM"))
            add_macro_kernel(sources, path, tokens, i, "", 2);
    }
    sources->device_files++;
}
