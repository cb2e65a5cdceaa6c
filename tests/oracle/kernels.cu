/* kernels.cu - what the shapes launch; one team of one thread. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#include "types.h"

/* ---- arrays --------------------------------------------------------------------------------------------------------------- */

REX_DEVICE_KERNEL(bump, (int *) a)
{
    a[0] += 1;
}

REX_DEVICE_KERNEL(bump_at, (int *) a, (int32_t) at)
{
    a[at] += 1;
}

REX_DEVICE_KERNEL(bump3, (int *) a, (int *) b, (int *) c)
{
    a[0] += 1;
    b[0] += 2;
    c[0] += 3;
}

REX_DEVICE_KERNEL(store, (int *) a)
{
    a[0] = 7;
    a[1] = 8;
}

REX_DEVICE_KERNEL(sum, (int *) s, (const int *) a)
{
    *s = a[0] + a[1];
}

REX_DEVICE_KERNEL(sum_scratch, (int *) scratch, (const int *) a, (int *) s)
{
    scratch[0] = a[0] + a[1];
    *s = scratch[0];
}

REX_DEVICE_KERNEL(bump2_in_third, (int *) a)
{
    a[2] += 1;
    a[3] += 2;
}

REX_DEVICE_KERNEL(set_if_here, (int *) s, (const int *) p)
{
    *s = p != NULL ? p[1] : -1;
}

REX_DEVICE_KERNEL(touch, (int *) a, (const int *) p)
{
    a[0] += p == NULL ? 1 : 1;
}

REX_DEVICE_KERNEL(nothing, void)
{
}

/* ---- values ----------------------------------------------------------------------------------------------------------------- */

REX_DEVICE_KERNEL(add_all, (int *) s, (char) c, (short) h, (int) i, (long) l, (bool) t, (float) f, (double) d)
{
    *s += c + h + i + (int)l + t + (int)f + (int)d;
}

REX_DEVICE_KERNEL(vla_sum, (int64_t) n, (int *) v, (int32_t) last)
{
    v[0] += (int)n + last;
}

REX_DEVICE_KERNEL(vla_section, (int64_t) n, (int *) v)
{
    v[1] += 5 + 0 * (int)n;
}

REX_DEVICE_KERNEL(private_copies, (int *) s, (const int *) a, (const struct record *) r)
{
    *s = a[1] + r->n;
}

REX_DEVICE_KERNEL(small_copy, (int *) s, (const struct small *) c)
{
    *s = c->x + c->y;
}

REX_DEVICE_KERNEL(mixed, (int *) s, (int32_t) i, (const int *) a, (double) d, (const struct record *) r, (int *) b, (const int *) p)
{
    *s = i + a[1] + (int)d + r->n;
    b[1] = p == NULL ? 1 : 1;
}

/* ---- structs ------------------------------------------------------------------------------------------------------------------ */

REX_DEVICE_KERNEL(record_n, (struct record *) r)
{
    r->n += 1;
}

REX_DEVICE_KERNEL(record_nx, (struct record *) r)
{
    r->n += 1;
    r->x += 2;
}

REX_DEVICE_KERNEL(record_p, (struct record *) r)
{
    r->p[1] += 1;
}

REX_DEVICE_KERNEL(record_np, (struct record *) r)
{
    r->p[1] += r->n;
}

REX_DEVICE_KERNEL(record_a, (struct record *) r)
{
    r->a[1] += 3;
}

REX_DEVICE_KERNEL(records2, (struct record *) r, (struct record *) t)
{
    r->n += 1;
    t->n += 2;
    t->x += 3;
}

REX_DEVICE_KERNEL(records2_p, (struct record *) r, (struct record *) t)
{
    r->p[0] += t->p[1];
    r->n += 1;
    t->n += 1;
}

REX_DEVICE_KERNEL(record_value_array, (struct record *) r, (int32_t) i, (int *) a)
{
    r->n += i;
    r->x += 1;
    a[0] += r->n;
}

REX_DEVICE_KERNEL(outer_k, (struct outer *) o)
{
    o->in.k += 1;
}

REX_DEVICE_KERNEL(outer_kh, (struct outer *) o)
{
    o->in.k += 1;
    o->h += 2;
}

REX_DEVICE_KERNEL(outer_q, (struct outer *) o)
{
    o->in.q[1] += 1;
}

REX_DEVICE_KERNEL(outer_ip, (struct outer *) o)
{
    o->ip->k += 1;
}

REX_DEVICE_KERNEL(outer_all, (struct outer *) o)
{
    o->h += o->in.q[0];
    o->ip->k += 1;
}

REX_DEVICE_KERNEL(outer_chain, (struct outer *) o)
{
    o->ip->k += 1;
    o->ip->q[2] += 1;
}

/* ---- globals ------------------------------------------------------------------------------------------------------------------ */

typedef int four_ints[4];

REX_DEVICE_GLOBAL(four_ints, shared_array);
REX_DEVICE_GLOBAL_LINK(int, linked_value);

REX_DEVICE_KERNEL(global_sum, (int *) s)
{
    *s = shared_array[0] + shared_array[1];
    shared_array[2] = 9;
}

REX_DEVICE_KERNEL(linked_bump, void)
{
    REX_DEVICE_LINKED(linked_value) += 1;
}

REX_DEVICE_KERNEL(linked_add, (int *) a)
{
    REX_DEVICE_LINKED(linked_value) += a[0];
}

/* ---- mappers ------------------------------------------------------------------------------------------------------------------ */

REX_DEVICE_KERNEL(part_v, (struct part *) p)
{
    p->v[1] += 1;
}

REX_DEVICE_KERNEL(parts_v, (struct part *) p)
{
    p[0].v[0] += 1;
    p[1].v[1] += 2;
}

REX_DEVICE_KERNEL(parts_n, (struct part *) p)
{
    p[0].n += 1;
    p[1].n += 2;
}

REX_DEVICE_KERNEL(boxes, (struct box *) b)
{
    b[0].c += 1;
    b[1].part.v[0] += 2;
}
