/*
 * model.c - the model of a chip, with Rodinia's constants.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "hotspot.h"

struct chip chip_model(int64_t size)
{
    const double conductivity = 100.0;   /* of silicon, W/(m K) */
    const double specific_heat = 1.75e6; /* of silicon, by volume, J/(m^3 K) */
    const double fitting = 0.5; /* of the capacity to measurements; Rodinia's FACTOR_CHIP */
    const double thickness = 0.0005;     /* m */
    const double edge = 0.016;           /* m */
    const double precision = 0.001; /* maximum of degrees that power warms a cell in a step */

    double cell = edge / (double)size;
    struct chip chip = {.size = size, .cell_area = cell * cell};
    chip.capacity = fitting * specific_heat * thickness * chip.cell_area;
    chip.resistance = cell / (2.0 * conductivity * thickness * cell);
    chip.to_ambient = thickness / (conductivity * chip.cell_area);
    chip.step = precision / (MAX_POWER_DENSITY / (fitting * thickness * specific_heat));

    /*
     * For more than about 1400 x 1400 cells Rodinia's step is too long: the temperatures oscillate
     * ever higher. Above 1200 x 1200 cells the step is shorter, so that a cell loses at most three
     * quarters of a difference in one step.
     */
    double stable = 0.75 * chip.capacity / (4.0 / chip.resistance + 1.0 / chip.to_ambient);
    if (chip.step > stable)
        chip.step = stable;
    return chip;
}
