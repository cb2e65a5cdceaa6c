#!/bin/sh
# librex from other languages, as a user has it: rex.f90 compiled by gfortran and linked by rex-cc, rex.py on memory of NumPy, and a program
# that rustc links. Their structs are as large as the library's. That the examples run on each release is in make check K=examples/.
# make builds for it: library tools
. tests/support/lib.sh
needs_release "$release"
needs python3
"$build/tools/rex-info" --abi --json >"$work/abi.json"

# size_of STRUCT: its bytes, in $size
size_of() {
    size=$(python3 -c 'import json, sys
print(*(one["size"] for one in json.load(open(sys.argv[1]))["structs"] if one["name"] == "struct " + sys.argv[2]))' "$work/abi.json" "$1")
    [ -n "$size" ] || fail "rex-info --abi tells nothing of struct $1"
}
cd "$work"

# ---- Fortran

if command -v gfortran >/dev/null; then
    cat >wrong.f90 <<'FORTRAN'
program wrong
  use, intrinsic :: iso_c_binding
  use rex
  implicit none
  type(rex_launch_config) :: config
  real(c_double), target :: x(20, 20)
  x = 1
  print '(a, i0)', 'config ', c_sizeof(config)
  if (rex_init(['heat_step']) /= 0) error stop 1
  if (rex_init(['heat_step']) /= 0) error stop 2
  if (rex_data_enter([rex_to(x(:, 3))]) /= 0) error stop 3
  if (rex_data_exit([rex_from(x(:, 3))]) /= 0) error stop 4
  print '(i0, 2a)', rex_data_enter([rex_to(x(3, :))]), ' ', rex_last_error()
  print '(i0, 2a)', rex_launch('heat_step', [rex_value(1_8), rex_to(x(3, :)), rex_to(x), rex_from(x)], &
                               1_c_int64_t), ' ', rex_last_error()
  print '(i0, 2a)', rex_launch('heat', [rex_to(x)], 1_c_int64_t), ' ', rex_last_error()
  print '(i0, 2a)', rex_launch('heat_step', [rex_value(1.0), rex_to(x), rex_to(x), rex_from(x)], &
                               1_c_int64_t), ' ', rex_last_error()
  if (rex_fini() /= 0) error stop 5
end program
FORTRAN
    cp "$top/examples/fortran/rex.f90" "$top/examples/fortran/heat.f90" .
    for program in heat wrong; do
        quietly gfortran -std=f2018 -Wall -Wextra -Werror -c rex.f90 "$program.f90" || fail "gfortran does not compile $program.f90"
        quietly "$build/tools/rex-cc" --host --no-check rex.o "$program.o" "$top/examples/fortran/kernels.cu" -lgfortran -o "$program" ||
            fail "rex-cc does not link $program.o"
    done
    run on_release ./heat
    ends 0 heat
    prints '40000 cells'
    run on_release ./wrong
    ends 0 wrong
    size_of rex_launch_config
    prints "config $size"
    [ "$(grep -c '^-2 .* NULL' out)" = 2 ] || fail 'rows that are not contiguous are not refused'
    prints '-15 '
    prints '-14 '
    cat out
    [ "$(wc -l <rex.f90)" -le 300 ] || fail 'rex.f90 has more than 300 lines'
else
    echo 'left out: Fortran: no gfortran'
fi

# ---- Python

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || python=python3
cp "$top"/examples/python/* .
quietly "$build/tools/rex-cc" --images --host kernels.cu || fail 'rex-cc makes no image for Python'
run on_release env LD_LIBRARY_PATH="$build" "$python" axpy.py
ends 0 axpy.py
prints 'array: y[99999] = 199999'
prints 'an error: REX_ENOKERNEL: '
"$python" -c 'import numpy' 2>/dev/null && prints 'NumPy: y[99999] = 299998' || echo 'left out: NumPy: there is none here'
for one in 'rex_launch_config rex.Config' 'rex_module rex.this'; do
    size_of "${one% *}"
    LD_LIBRARY_PATH=$build python3 -c "import ctypes, rex; exit(ctypes.sizeof(${one#* }) != $size)" || fail "${one#* } is not of $size bytes"
done

# ---- Rust

if command -v rustc >/dev/null; then
    for struct in 'rex_module Module' '__tgt_kernel_arguments Packet' '__tgt_offload_entry Entry'; do
        size_of "${struct% *}"
        echo "const _: [(); $size] = [(); std::mem::size_of::<${struct#* }>()];"
    done | cat "$top/examples/rust/axpy.rs" - >axpy.rs
    quietly rustc --edition 2021 -D warnings axpy.rs -L "$build" -l rex -C link-arg=-Wl,-z,nostart-stop-gc,-rpath,"$build" ||
        fail 'rustc does not compile axpy.rs'
    run on_release ./axpy
    ends 0 axpy.rs
    prints '0 of 100000 values wrong'
    "$build/tools/rex-check" -q axpy rex_lib_host.so || fail 'rex-check finds something in what rustc made'
else
    echo 'left out: Rust: no rustc'
fi
