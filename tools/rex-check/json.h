/*
 * json.h - prints the report on a program as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_JSON_H
#define CHECK_JSON_H

#include "images.h"
#include "program.h"
#include "report.h"

void show_json(const struct program *program, const struct images *images,
               const struct report *report);

#endif
