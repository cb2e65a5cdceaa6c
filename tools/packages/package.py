# Spack: var/spack/repos/builtin/packages/librex/package.py, or a repository of your own. Python's
# compiler alone has checked it: no Spack has run it yet.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

from spack.package import *


class Librex(MakefilePackage):
    """Hand-written GPU offload on LLVM's libomptarget: kernels in CUDA C, and host code that
    registers, maps and launches, on LLVM 14 to 24, on NVIDIA GPUs and on the CPU."""

    homepage = "https://librex.invalid/"
    url = "https://librex.invalid/librex-0.2.0.tar.xz"

    license("Apache-2.0 WITH LLVM-exception")

    # The checksum is in SHA256SUMS beside the release archive.
    version("0.2.0")

    depends_on("c", type="build")
    depends_on("gmake@4.3:", type="build")
    # Opened at run time.
    depends_on("llvm@14: +omp_as_runtime libomptarget=yes", type="run")

    build_targets = ["library", "NVCC="]

    @property
    def install_targets(self):
        return ["install", "NVCC=", f"prefix={self.prefix}"]

    def setup_run_environment(self, env):
        # The library's own search knows the folders of the loader and of distributions alone.
        llvm = self.spec["llvm"].prefix
        for path in find_libraries("libomptarget", root=llvm, recursive=True):
            env.set("REX_OMPTARGET", os.path.realpath(path))
