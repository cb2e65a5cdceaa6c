// A matrix product and a reduction in MLIR's gpu dialect. Memory, copies, streams and launches are
// calls of the functions mgpu*, which MLIR leaves to a runtime.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // c = a b, of square matrices of n rows: a thread for each element.
    gpu.func @product(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) kernel {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %dx = gpu.block_dim x
      %dy = gpu.block_dim y
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %jb = arith.muli %bx, %dx : index
      %j = arith.addi %jb, %tx : index
      %ib = arith.muli %by, %dy : index
      %i = arith.addi %ib, %ty : index
      %n = memref.dim %a, %zero : memref<?x?xf32>
      %inrow = arith.cmpi ult, %i, %n : index
      %incolumn = arith.cmpi ult, %j, %n : index
      %inside = arith.andi %inrow, %incolumn : i1
      scf.if %inside {
        %none = arith.constant 0.0 : f32
        %sum = scf.for %k = %zero to %n step %one iter_args(%before = %none) -> (f32) {
          %x = memref.load %a[%i, %k] : memref<?x?xf32>
          %y = memref.load %b[%k, %j] : memref<?x?xf32>
          %xy = arith.mulf %x, %y : f32
          %now = arith.addf %before, %xy : f32
          scf.yield %now : f32
        }
        memref.store %sum, %c[%i, %j] : memref<?x?xf32>
      }
      gpu.return
    }

    // Adds what a matrix holds to total: each thread a share, each block a sum, by shared memory.
    gpu.func @sum(%c: memref<?x?xf32>, %total: memref<1xf32>)
        workgroup(%shared: memref<256xf32, #gpu.address_space<workgroup>>) kernel {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %bx = gpu.block_id x
      %dx = gpu.block_dim x
      %gx = gpu.grid_dim x
      %tx = gpu.thread_id x
      %first = arith.muli %bx, %dx : index
      %at = arith.addi %first, %tx : index
      %step = arith.muli %gx, %dx : index
      %n = memref.dim %c, %zero : memref<?x?xf32>
      %count = arith.muli %n, %n : index
      %none = arith.constant 0.0 : f32
      %mine = scf.for %k = %at to %count step %step iter_args(%before = %none) -> (f32) {
        %i = arith.divui %k, %n : index
        %j = arith.remui %k, %n : index
        %x = memref.load %c[%i, %j] : memref<?x?xf32>
        %now = arith.addf %before, %x : f32
        scf.yield %now : f32
      }
      memref.store %mine, %shared[%tx] : memref<256xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %isfirst = arith.cmpi eq, %tx, %zero : index
      scf.if %isfirst {
        %all = scf.for %k = %zero to %dx step %one iter_args(%before = %none) -> (f32) {
          %x = memref.load %shared[%k] : memref<256xf32, #gpu.address_space<workgroup>>
          %now = arith.addf %before, %x : f32
          scf.yield %now : f32
        }
        %old = memref.atomic_rmw addf %all, %total[%zero] : (f32, memref<1xf32>) -> f32
      }
      gpu.return
    }
  }

  // c = a b, and the sum of c's elements in total; all in memory of the host.
  func.func @product_and_sum(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>,
                             %total: memref<1xf32>) attributes {llvm.emit_c_interface} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %side = arith.constant 16 : index
    %threads = arith.constant 256 : index
    %teams = arith.constant 64 : index
    %n = memref.dim %a, %zero : memref<?x?xf32>
    %blocks = arith.ceildivui %n, %side : index
    %t0 = gpu.wait async
    %da, %t1 = gpu.alloc async [%t0] (%n, %n) : memref<?x?xf32>
    %db, %t2 = gpu.alloc async [%t1] (%n, %n) : memref<?x?xf32>
    %dc, %t3 = gpu.alloc async [%t2] (%n, %n) : memref<?x?xf32>
    %dt, %t4 = gpu.alloc async [%t3] () : memref<1xf32>
    %t5 = gpu.memcpy async [%t4] %da, %a : memref<?x?xf32>, memref<?x?xf32>
    %t6 = gpu.memcpy async [%t5] %db, %b : memref<?x?xf32>, memref<?x?xf32>
    %t7 = gpu.memcpy async [%t6] %dt, %total : memref<1xf32>, memref<1xf32>
    %t8 = gpu.launch_func async [%t7] @kernels::@product blocks in (%blocks, %blocks, %one)
        threads in (%side, %side, %one)
        args(%da : memref<?x?xf32>, %db : memref<?x?xf32>, %dc : memref<?x?xf32>)
    %t9 = gpu.launch_func async [%t8] @kernels::@sum blocks in (%teams, %one, %one)
        threads in (%threads, %one, %one) args(%dc : memref<?x?xf32>, %dt : memref<1xf32>)
    %t10 = gpu.memcpy async [%t9] %c, %dc : memref<?x?xf32>, memref<?x?xf32>
    %t11 = gpu.memcpy async [%t10] %total, %dt : memref<1xf32>, memref<1xf32>
    %t12 = gpu.dealloc async [%t11] %da : memref<?x?xf32>
    %t13 = gpu.dealloc async [%t12] %db : memref<?x?xf32>
    %t14 = gpu.dealloc async [%t13] %dc : memref<?x?xf32>
    %t15 = gpu.dealloc async [%t14] %dt : memref<1xf32>
    gpu.wait [%t15]
    return
  }
}
