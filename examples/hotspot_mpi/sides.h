/*
 * sides.h - bits for the sides on which a part has a neighbour, for host and device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef SIDES_H
#define SIDES_H

enum { NORTH = 0x1, SOUTH = 0x2, WEST = 0x4, EAST = 0x8 };

#endif
