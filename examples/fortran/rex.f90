! rex.f90 - librex from Fortran 2018. `make install` puts it into share/librex. Compile it with your
! program, and link the program with -lrex. examples/fortran/heat.f90 is an example.
!
!     real(c_double), target :: x(n), y(n)
!     error = rex_init(['axpy'])                         ! the kernels in the image
!     error = rex_launch('axpy', [rex_value(n), rex_to(x), rex_tofrom(y)], trip_count=n)
!     if (error /= 0) print *, rex_last_error()
!
! librex's manual describes most functions under their names. Integer functions return 0 or an
! error. Functions such as rex_to() take variables, and arrays of any type and rank. Arrays must be
! contiguous targets: librex refuses a row of x(3, :), whose address is NULL. Pass x(:n) instead of
! x(*), which has no size. Any thread may call a function after rex_init() has returned.
!
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
module rex
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: rex_init, rex_fini, rex_last_error, rex_launch
  public :: rex_row, rex_to, rex_from, rex_tofrom, rex_alloc, rex_value, rex_is_device_ptr
  public :: rex_data_enter, rex_data_exit, rex_data_update, rex_region_begin, rex_region_end
  public :: rex_queue_create, rex_queue_destroy, rex_queue_sync
  public :: rex_device_alloc, rex_device_free, rex_device_copy_to, rex_device_copy_from

  ! A row of a map, as rex_to() and rex_value() make it. Its addresses are integers.
  type :: rex_row
    integer(c_int64_t) :: base, begin, bytes, bits
  end type

  ! Constants and types of rex/abi.h, rex/launch.h and rex/kinds.h.
  integer(c_int64_t), parameter :: map_to = 1, map_from = 2, map_parameter = 32, map_literal = 256
  integer(c_int64_t), parameter :: is_pointer = 1, is_i32 = 9, is_i64 = 11, is_f32 = 13, is_f64 = 14
  integer(c_int32_t), parameter :: grid_stride = 4
  type, bind(c) :: c_entry ! struct __tgt_offload_entry
    type(c_ptr) :: key = c_null_ptr, name = c_null_ptr
    integer(c_size_t) :: bytes = 0
    integer(c_int32_t) :: flags = 0, reserved = 0
  end type
  type, bind(c) :: c_module ! struct rex_module
    integer(c_int32_t) :: struct_size = 0, flags = 0
    type(c_ptr) :: entries_begin, entries_end, image_name, host_image_name
    integer(c_intptr_t) :: others(13) = 0
  end type
  type, bind(c) :: c_map ! struct rex_map
    integer(c_int32_t) :: count
    type(c_ptr) :: base, begin, sizes, types, mappers = c_null_ptr, storage = c_null_ptr
  end type
  type, bind(c), public :: rex_launch_config
    type(c_ptr) :: key = c_null_ptr
    integer(c_int64_t) :: device = -1
    type(c_ptr) :: queue = c_null_ptr
    integer(c_int32_t) :: teams(3) = [0, 1, 1], threads(3) = [0, 1, 1]
    integer(c_int64_t) :: trip_count = 0
    integer(c_int32_t) :: dynamic_memory = 0, flags = 0
    integer(c_int32_t) :: cluster(3) = 0, reserved(3) = 0
  end type

  ! The module of this program. rex_init() makes its table of entries; in C the linker does.
  type(c_module), target, save :: this
  type(c_entry), allocatable, target, save :: entries(:)
  character(kind=c_char, len=:), allocatable, target, save :: names(:)
  character(kind=c_char), allocatable, target, save :: keys(:)
  character(kind=c_char, len=21), target, save :: images(2) = &
    ['rex_lib_nvidia.cubin' // c_null_char, 'rex_lib_host.so' // repeat(c_null_char, 6)]

  abstract interface
    integer(c_int) function call_of_handle(handle) bind(c) result(error)
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int) function data_call(module, device, map) bind(c) result(error)
      import
      type(c_ptr), value :: module
      integer(c_int64_t), value :: device
      type(c_map), intent(in) :: map
    end function
    integer(c_int) function copy_call(to, from, bytes, device) bind(c) result(error)
      import
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
      integer(c_int64_t), value :: device
    end function
  end interface
  procedure(copy_call), bind(c) :: rex_device_copy_to, rex_device_copy_from
  procedure(call_of_handle), bind(c) :: rex_module_init, rex_module_fini
  procedure(call_of_handle), bind(c) :: rex_queue_sync, rex_queue_destroy
  procedure(data_call), bind(c) :: rex_module_data_enter, rex_module_data_exit
  procedure(data_call), bind(c) :: rex_module_data_update, rex_module_region_end

  interface
    type(c_ptr) function c_last_error() bind(c, name='rex_last_error')
      import
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import
      type(c_ptr), value :: text
    end function
    integer(c_int) function rex_module_launch_map(module, config, map) bind(c) result(error)
      import
      type(c_ptr), value :: module
      type(rex_launch_config), intent(in) :: config
      type(c_map), intent(in) :: map
    end function
    integer(c_int) function rex_module_queue_create(queue, module, device, name, flags, at) bind(c)
      import
      type(c_ptr), intent(out) :: queue
      type(c_ptr), value :: module, name, at
      integer(c_int64_t), value :: device
      integer(c_int), value :: flags
    end function
    type(c_ptr) function rex_device_alloc(bytes, device) bind(c)
      import
      integer(c_size_t), value :: bytes
      integer(c_int64_t), value :: device
    end function
    subroutine rex_device_free(memory, device) bind(c)
      import
      type(c_ptr), value :: memory
      integer(c_int64_t), value :: device
    end subroutine
  end interface

  ! rex_region_begin() is rex_data_enter(); pass its rows to rex_region_end().
  interface rex_region_begin
    procedure rex_data_enter
  end interface
  interface rex_value
    procedure value_i32, value_i64, value_f32, value_f64
  end interface
contains
  ! Registers and loads the kernels that REX_DEVICE_KERNEL() defines under these names. The images
  ! lie beside the program; rex-cc makes them.
  integer(c_int) function rex_init(kernels) result(error)
    character(*), intent(in) :: kernels(:)
    integer :: i
    if (.not. allocated(entries)) then
      allocate (entries(size(kernels) + 1), keys(size(kernels)))
      allocate (character(len(kernels) + 11) :: names(size(kernels)))
      do i = 1, size(kernels)
        names(i) = name_of(kernels(i))
        entries(i) = c_entry(c_loc(keys(i)), c_loc(names(i)))
      end do
      this = c_module(int(c_sizeof(this), c_int32_t), 0, c_loc(entries(1)), &
                      c_loc(entries(i)), c_loc(images(1)), c_loc(images(2)))
    end if
    error = rex_module_init(c_loc(this))
  end function

  ! Returns the kernel's name in the image, which REX_DEVICE_KERNEL() makes, as a C string.
  function name_of(kernel) result(name)
    character(*), intent(in) :: kernel
    character(len_trim(kernel) + 11) :: name
    name = trim(kernel) // '__kernel__' // c_null_char
  end function

  integer(c_int) function rex_fini() result(error)
    error = rex_module_fini(c_loc(this))
  end function

  function rex_last_error() result(text)
    character(:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    call c_f_pointer(c_last_error(), bytes, [strlen(c_last_error())])
    text = transfer(bytes, repeat(' ', size(bytes)))
  end function

  ! Launches a kernel of rex_init(). librex chooses a grid for trip_count iterations, unless `teams`
  ! is given. The call waits, unless `queue` is given. It returns REX_EKEY for another kernel.
  integer(c_int) function rex_launch(kernel, rows, trip_count, teams, threads, device, queue, &
                                     dynamic_memory) result(error)
    character(*), intent(in) :: kernel
    type(rex_row), intent(in) :: rows(:)
    integer(c_int64_t), intent(in), optional :: trip_count, device
    integer(c_int32_t), intent(in), optional :: teams(:), threads(:), dynamic_memory
    type(c_ptr), intent(in), optional :: queue
    integer(c_int64_t), target :: columns(size(rows) + 1, 4)
    type(rex_launch_config) :: config
    integer :: i
    do i = 1, size(keys)
      if (names(i) == name_of(kernel)) config%key = c_loc(keys(i))
    end do
    config%device = chosen(device)
    if (present(queue)) config%queue = queue
    if (present(trip_count)) config%trip_count = trip_count
    if (present(teams)) config%teams(:size(teams)) = teams
    if (.not. present(teams)) config%flags = grid_stride
    if (present(threads)) config%threads(:size(threads)) = threads
    if (present(dynamic_memory)) config%dynamic_memory = dynamic_memory
    error = rex_module_launch_map(c_loc(this), config, map_of(rows, columns))
  end function

  integer(c_int) function rex_data_enter(rows, device) result(error)
    type(rex_row), intent(in) :: rows(:)
    integer(c_int64_t), intent(in), optional :: device
    error = data_of(rex_module_data_enter, rows, device)
  end function
  integer(c_int) function rex_data_exit(rows, device) result(error)
    type(rex_row), intent(in) :: rows(:)
    integer(c_int64_t), intent(in), optional :: device
    error = data_of(rex_module_data_exit, rows, device)
  end function
  integer(c_int) function rex_data_update(rows, device) result(error)
    type(rex_row), intent(in) :: rows(:)
    integer(c_int64_t), intent(in), optional :: device
    error = data_of(rex_module_data_update, rows, device)
  end function
  integer(c_int) function rex_region_end(rows, device) result(error)
    type(rex_row), intent(in) :: rows(:)
    integer(c_int64_t), intent(in), optional :: device
    error = data_of(rex_module_region_end, rows, device)
  end function

  integer(c_int) function rex_queue_create(queue, device) result(error)
    type(c_ptr), intent(out) :: queue
    integer(c_int64_t), intent(in), optional :: device
    error = rex_module_queue_create(queue, c_loc(this), chosen(device), c_null_ptr, 0, c_null_ptr)
  end function

  type(rex_row) function rex_to(x) result(row)
    class(*), dimension(..), intent(in), target :: x
    row = row_of(x, map_to)
  end function
  type(rex_row) function rex_from(x) result(row)
    class(*), dimension(..), intent(in), target :: x
    row = row_of(x, map_from)
  end function
  type(rex_row) function rex_tofrom(x) result(row)
    class(*), dimension(..), intent(in), target :: x
    row = row_of(x, map_to + map_from)
  end function
  type(rex_row) function rex_alloc(x) result(row)
    class(*), dimension(..), intent(in), target :: x
    row = row_of(x, 0_c_int64_t)
  end function

  type(rex_row) function rex_is_device_ptr(memory) result(row)
    type(c_ptr), intent(in) :: memory
    row = literal(transfer(memory, 0_c_int64_t), 8_c_int64_t, is_pointer)
  end function
  type(rex_row) function value_i32(value) result(row)
    integer(c_int32_t), intent(in) :: value
    row = literal(int(value, c_int64_t), 4_c_int64_t, is_i32)
  end function
  type(rex_row) function value_i64(value) result(row)
    integer(c_int64_t), intent(in) :: value
    row = literal(value, 8_c_int64_t, is_i64)
  end function
  type(rex_row) function value_f32(value) result(row)
    real(c_float), intent(in) :: value
    row = literal(transfer([value, 0._c_float], 0_c_int64_t), 4_c_int64_t, is_f32)
  end function
  type(rex_row) function value_f64(value) result(row)
    real(c_double), intent(in) :: value
    row = literal(transfer(value, 0_c_int64_t), 8_c_int64_t, is_f64)
  end function
  type(rex_row) function literal(value, bytes, kind_of_type) result(row)
    integer(c_int64_t), intent(in) :: value, bytes, kind_of_type
    row = rex_row(value, value, bytes, map_literal + map_parameter + shiftl(kind_of_type, 32))
  end function

  type(rex_row) function row_of(x, bits) result(row)
    class(*), dimension(..), intent(in), target :: x
    integer(c_int64_t), intent(in) :: bits
    row = rex_row(address(x), address(x), 0_c_int64_t, bits + map_parameter)
    row%bytes = size(x, kind=c_int64_t) * (storage_size(x) / 8)
  end function

  ! Returns 0 if x is not contiguous. x is type(*), because c_loc() takes no class(*).
  integer(c_int64_t) function address(x)
    type(*), dimension(..), intent(in), target :: x
    address = 0
    if (is_contiguous(x)) address = transfer(c_loc(x), address)
  end function

  ! Returns a C map over the caller's columns, which have an extra row, so that none is empty.
  type(c_map) function map_of(rows, columns) result(map)
    type(rex_row), intent(in) :: rows(:)
    integer(c_int64_t), intent(out), target :: columns(:, :)
    columns(:size(rows), 1) = rows%base
    columns(:size(rows), 2) = rows%begin
    columns(:size(rows), 3) = rows%bytes
    columns(:size(rows), 4) = rows%bits
    map = c_map(size(rows), c_loc(columns(1, 1)), c_loc(columns(1, 2)), c_loc(columns(1, 3)), &
                c_loc(columns(1, 4)))
  end function

  integer(c_int) function data_of(call_of_module, rows, device) result(error)
    procedure(data_call) :: call_of_module
    type(rex_row), intent(in) :: rows(:)
    integer(c_int64_t), intent(in), optional :: device
    integer(c_int64_t), target :: columns(size(rows) + 1, 4)
    error = call_of_module(c_loc(this), chosen(device), map_of(rows, columns))
  end function

  integer(c_int64_t) function chosen(device) result(number)
    integer(c_int64_t), intent(in), optional :: device
    number = -1
    if (present(device)) number = device
  end function
end module
