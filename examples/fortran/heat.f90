! heat.f90 - heat on a plate, from Fortran: kernels in CUDA C, and librex by the module rex.f90.
!
! A plate of n x n cells has a hot spot, and its edge stays cold. Each step sets every cell to the
! mean of its neighbours plus the heat of a source. The plate stays on the device for all steps. The
! source is in memory that the program allocates on the device. The first half of the steps waits,
! the second half uses a queue. At the end a serial loop computes the plate for comparison.
!
! Run it:  make && $(make -s print-O)/examples/fortran/fortran
! By hand: gfortran -c share/librex/rex.f90 heat.f90
!          rex-cc --no-check rex.o heat.o kernels.cu -lgfortran -o heat
!
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
program heat
  use, intrinsic :: iso_c_binding
  use rex
  implicit none
  integer(c_int64_t), parameter :: n = 200, default_device = -1
  integer, parameter :: steps = 100
  real(c_double), target :: old(n, n), new(n, n)
  real(c_double), target :: source(n, n)
  real(c_double) :: wanted(n, n)
  type(c_ptr) :: there, queue
  integer :: step

  call check(rex_init(['heat_step']), 'rex_init')
  source = 0
  source(n / 4, n / 2) = 1
  old = 0
  old(n / 2, n / 2) = 100
  new = old
  wanted = serial(old)

  there = rex_device_alloc(8 * size(source, kind=c_size_t), default_device)
  if (.not. c_associated(there)) call check(1, 'rex_device_alloc')
  call check(rex_device_copy_to(there, c_loc(source), 8 * size(source, kind=c_size_t), &
                                default_device), 'rex_device_copy_to')
  call check(rex_region_begin([rex_tofrom(old), rex_to(new)]), 'rex_region_begin')
  do step = 1, steps / 2, 2
    call check(rex_launch('heat_step', arguments(old, new), n * n), 'rex_launch')
    call check(rex_launch('heat_step', arguments(new, old), n * n), 'rex_launch')
  end do
  call check(rex_data_update([rex_from(old)]), 'rex_data_update')
  print '(a, f8.4)', 'after half of the steps the middle has ', old(n / 2, n / 2)

  call check(rex_queue_create(queue), 'rex_queue_create')
  do step = steps / 2 + 1, steps, 2
    call check(rex_launch('heat_step', arguments(old, new), teams=[4, 25], threads=[64, 4], &
                          queue=queue), 'rex_launch in a queue')
    call check(rex_launch('heat_step', arguments(new, old), teams=[4, 25], threads=[64, 4], &
                          queue=queue), 'rex_launch in a queue')
  end do
  call check(rex_queue_sync(queue), 'rex_queue_sync')
  call check(rex_queue_destroy(queue), 'rex_queue_destroy')
  call check(rex_region_end([rex_tofrom(old), rex_to(new)]), 'rex_region_end')
  call rex_device_free(there, default_device)

  print '(i0, a, es8.1, a)', n * n, ' cells: largest difference ', maxval(abs(old - wanted)), &
    ' from the serial run'
  if (maxval(abs(old - wanted)) > 1d-12) error stop 1

contains

  ! Returns the rows of a step, which reads `from` and writes `to`.
  function arguments(from, to) result(rows)
    real(c_double), intent(in), target :: from(:, :), to(:, :)
    type(rex_row) :: rows(4)
    rows = [rex_value(n), rex_is_device_ptr(there), rex_to(from), rex_from(to)]
  end function

  function serial(start) result(plate)
    real(c_double), intent(in) :: start(n, n)
    real(c_double) :: plate(n, n)
    real(c_double), allocatable :: before(:, :)
    integer :: i
    plate = start
    do i = 1, steps
      before = plate
      plate(2:n-1, 2:n-1) = source(2:n-1, 2:n-1) + 0.25d0 * &
        (before(1:n-2, 2:n-1) + before(3:n, 2:n-1) + before(2:n-1, 1:n-2) + before(2:n-1, 3:n))
    end do
  end function

  subroutine check(error, call)
    integer, intent(in) :: error
    character(*), intent(in) :: call
    if (error == 0) return
    print '(4a)', call, ': ', rex_last_error()
    error stop 1
  end subroutine
end program
