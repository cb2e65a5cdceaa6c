	.file	"LLVMDialectModule"
	.text
	.globl	product_and_sum                 # -- Begin function product_and_sum
	.p2align	4
	.type	product_and_sum,@function
product_and_sum:                        # @product_and_sum
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	pushq	%r15
	.cfi_def_cfa_offset 24
	pushq	%r14
	.cfi_def_cfa_offset 32
	pushq	%r13
	.cfi_def_cfa_offset 40
	pushq	%r12
	.cfi_def_cfa_offset 48
	pushq	%rbx
	.cfi_def_cfa_offset 56
	subq	$584, %rsp                      # imm = 0x248
	.cfi_def_cfa_offset 640
	.cfi_offset %rbx, -56
	.cfi_offset %r12, -48
	.cfi_offset %r13, -40
	.cfi_offset %r14, -32
	.cfi_offset %r15, -24
	.cfi_offset %rbp, -16
	movq	%r8, 8(%rsp)                    # 8-byte Spill
	movq	%rcx, %r12
	movq	%rsi, 16(%rsp)                  # 8-byte Spill
	leaq	-1(%rcx), %rax
	shrq	$4, %rax
	incq	%rax
	xorl	%ecx, %ecx
	cmpq	$1, %r12
	movq	672(%rsp), %r14
	cmovaeq	%rax, %rcx
	movq	%rcx, 40(%rsp)                  # 8-byte Spill
	callq	mgpuStreamCreate@PLT
	movq	%rax, %rbx
	leaq	(,%r12,4), %r15
	movq	%r15, %rbp
	imulq	%r12, %rbp
	movq	%rbp, %rdi
	movq	%rax, %rsi
	xorl	%edx, %edx
	callq	mgpuMemAlloc@PLT
	movq	%rax, %r13
	movq	%rbp, %rdi
	movq	%rbp, 48(%rsp)                  # 8-byte Spill
	movq	%rbx, %rsi
	xorl	%edx, %edx
	callq	mgpuMemAlloc@PLT
	movq	%rax, (%rsp)                    # 8-byte Spill
	movq	%rbp, %rdi
	movq	%rbx, %rsi
	xorl	%edx, %edx
	callq	mgpuMemAlloc@PLT
	movq	%rax, 32(%rsp)                  # 8-byte Spill
	movl	$4, %edi
	movq	%rbx, %rsi
	xorl	%edx, %edx
	callq	mgpuMemAlloc@PLT
	movq	%rax, %rbp
	imulq	8(%rsp), %r15                   # 8-byte Folded Reload
	movq	%r13, %rdi
	movq	16(%rsp), %rsi                  # 8-byte Reload
	movq	%r15, %rdx
	movq	%rbx, %rcx
	callq	mgpuMemcpy@PLT
	imulq	680(%rsp), %r14
	shlq	$2, %r14
	movq	(%rsp), %r15                    # 8-byte Reload
	movq	%r15, %rdi
	movq	656(%rsp), %rsi
	movq	%r14, %rdx
	movq	%rbx, %rcx
	callq	mgpuMemcpy@PLT
	movl	$4, %edx
	movq	%rbp, %rdi
	movq	%rbp, %r14
	movq	768(%rsp), %rsi
	movq	%rbx, %rcx
	callq	mgpuMemcpy@PLT
	movq	%r13, 24(%rsp)                  # 8-byte Spill
	movq	%r13, 152(%rsp)
	leaq	152(%rsp), %rax
	movq	%rax, 416(%rsp)
	leaq	160(%rsp), %rax
	movq	%r13, 160(%rsp)
	movq	%rax, 424(%rsp)
	leaq	168(%rsp), %rax
	movq	$0, 168(%rsp)
	movq	%rax, 432(%rsp)
	leaq	176(%rsp), %rax
	movq	%r12, 176(%rsp)
	movq	%rax, 440(%rsp)
	leaq	184(%rsp), %rax
	movq	%r12, 184(%rsp)
	movq	%rax, 448(%rsp)
	leaq	192(%rsp), %rax
	movq	%r12, 192(%rsp)
	movq	%rax, 456(%rsp)
	leaq	200(%rsp), %rax
	movq	$1, 200(%rsp)
	movq	%rax, 464(%rsp)
	leaq	208(%rsp), %rax
	movq	%r15, 208(%rsp)
	movq	%rax, 472(%rsp)
	leaq	216(%rsp), %rax
	movq	%r15, 216(%rsp)
	movq	%rax, 480(%rsp)
	leaq	224(%rsp), %rax
	movq	$0, 224(%rsp)
	movq	%rax, 488(%rsp)
	leaq	232(%rsp), %rax
	movq	%r12, 232(%rsp)
	movq	%rax, 496(%rsp)
	leaq	240(%rsp), %rax
	movq	%r12, 240(%rsp)
	movq	%rax, 504(%rsp)
	leaq	248(%rsp), %rax
	movq	%r12, 248(%rsp)
	movq	%rax, 512(%rsp)
	leaq	256(%rsp), %rax
	movq	$1, 256(%rsp)
	movq	%rax, 520(%rsp)
	leaq	264(%rsp), %rax
	movq	32(%rsp), %rbp                  # 8-byte Reload
	movq	%rbp, 264(%rsp)
	movq	%rax, 528(%rsp)
	leaq	272(%rsp), %rax
	movq	%rbp, 272(%rsp)
	movq	%rax, 536(%rsp)
	leaq	280(%rsp), %rax
	movq	$0, 280(%rsp)
	movq	%rax, 544(%rsp)
	leaq	288(%rsp), %rax
	movq	%r12, 288(%rsp)
	movq	%rax, 552(%rsp)
	leaq	296(%rsp), %rax
	movq	%r12, 296(%rsp)
	movq	%rax, 560(%rsp)
	leaq	304(%rsp), %rax
	movq	%r12, 304(%rsp)
	movq	%rax, 568(%rsp)
	leaq	312(%rsp), %rax
	movq	$1, 312(%rsp)
	movq	%rax, 576(%rsp)
	movq	kernels_module(%rip), %rdi
	leaq	.Lkernels_product_name(%rip), %rsi
	callq	mgpuModuleGetFunction@PLT
	leaq	416(%rsp), %r10
	movl	$1, %ecx
	movl	$16, %r8d
	movl	$16, %r9d
	movq	%rax, %rdi
	movq	40(%rsp), %rdx                  # 8-byte Reload
	movq	%rdx, %rsi
	pushq	$21
	.cfi_adjust_cfa_offset 8
	pushq	$0
	.cfi_adjust_cfa_offset 8
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	pushq	$0
	.cfi_adjust_cfa_offset 8
	pushq	$1
	.cfi_adjust_cfa_offset 8
	callq	mgpuLaunchKernel@PLT
	addq	$48, %rsp
	.cfi_adjust_cfa_offset -48
	movq	%rbp, 56(%rsp)
	leaq	56(%rsp), %rax
	movq	%rax, 320(%rsp)
	leaq	64(%rsp), %rax
	movq	%rbp, 64(%rsp)
	movq	%rax, 328(%rsp)
	leaq	72(%rsp), %rax
	movq	$0, 72(%rsp)
	movq	%rax, 336(%rsp)
	leaq	80(%rsp), %rax
	movq	%r12, 80(%rsp)
	movq	%rax, 344(%rsp)
	leaq	88(%rsp), %rax
	movq	%r12, 88(%rsp)
	movq	%rax, 352(%rsp)
	leaq	96(%rsp), %rax
	movq	%r12, 96(%rsp)
	movq	%rax, 360(%rsp)
	leaq	104(%rsp), %rax
	movq	$1, 104(%rsp)
	movq	%rax, 368(%rsp)
	leaq	112(%rsp), %rax
	movq	%r14, 112(%rsp)
	movq	%rax, 376(%rsp)
	leaq	120(%rsp), %rax
	movq	%r14, 120(%rsp)
	movq	%rax, 384(%rsp)
	leaq	128(%rsp), %rax
	movq	$0, 128(%rsp)
	movq	%rax, 392(%rsp)
	leaq	136(%rsp), %rax
	movq	$1, 136(%rsp)
	movq	%rax, 400(%rsp)
	leaq	144(%rsp), %rax
	movq	$1, 144(%rsp)
	movq	%rax, 408(%rsp)
	movq	kernels_module(%rip), %rdi
	leaq	.Lkernels_sum_name(%rip), %rsi
	callq	mgpuModuleGetFunction@PLT
	leaq	320(%rsp), %r10
	movl	$64, %esi
	movl	$1, %edx
	movl	$1, %ecx
	movl	$256, %r8d                      # imm = 0x100
	movl	$1, %r9d
	movq	%rax, %rdi
	pushq	$12
	.cfi_adjust_cfa_offset 8
	pushq	$0
	.cfi_adjust_cfa_offset 8
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	pushq	$0
	.cfi_adjust_cfa_offset 8
	pushq	$1
	.cfi_adjust_cfa_offset 8
	callq	mgpuLaunchKernel@PLT
	addq	$48, %rsp
	.cfi_adjust_cfa_offset -48
	movq	712(%rsp), %rdi
	movq	%rbp, %rsi
	movq	48(%rsp), %rdx                  # 8-byte Reload
	movq	%rbx, %rcx
	callq	mgpuMemcpy@PLT
	movl	$4, %edx
	movq	768(%rsp), %rdi
	movq	%r14, %rsi
	movq	%rbx, %rcx
	callq	mgpuMemcpy@PLT
	movq	24(%rsp), %rdi                  # 8-byte Reload
	movq	%rbx, %rsi
	callq	mgpuMemFree@PLT
	movq	%r15, %rdi
	movq	%rbx, %rsi
	callq	mgpuMemFree@PLT
	movq	%rbp, %rdi
	movq	%rbx, %rsi
	callq	mgpuMemFree@PLT
	movq	%r14, %rdi
	movq	%rbx, %rsi
	callq	mgpuMemFree@PLT
	movq	%rbx, %rdi
	callq	mgpuStreamSynchronize@PLT
	movq	%rbx, %rdi
	callq	mgpuStreamDestroy@PLT
	addq	$584, %rsp                      # imm = 0x248
	.cfi_def_cfa_offset 56
	popq	%rbx
	.cfi_def_cfa_offset 48
	popq	%r12
	.cfi_def_cfa_offset 40
	popq	%r13
	.cfi_def_cfa_offset 32
	popq	%r14
	.cfi_def_cfa_offset 24
	popq	%r15
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end0:
	.size	product_and_sum, .Lfunc_end0-product_and_sum
	.cfi_endproc
                                        # -- End function
	.globl	_mlir_ciface_product_and_sum    # -- Begin function _mlir_ciface_product_and_sum
	.p2align	4
	.type	_mlir_ciface_product_and_sum,@function
_mlir_ciface_product_and_sum:           # @_mlir_ciface_product_and_sum
	.cfi_startproc
# %bb.0:
	subq	$168, %rsp
	.cfi_def_cfa_offset 176
	movq	8(%rdi), %rax
	movq	24(%rdi), %r9
	movq	32(%rdi), %r8
	movq	8(%rsi), %rdi
	movups	24(%rsi), %xmm0
	movq	8(%rdx), %rdx
	movq	8(%rcx), %rcx
	movq	%rcx, 128(%rsp)
	movq	%rdx, 72(%rsp)
	movups	%xmm0, 32(%rsp)
	movq	%rdi, 16(%rsp)
	movq	%rax, %rsi
	movq	%r9, %rcx
	callq	product_and_sum@PLT
	addq	$168, %rsp
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end1:
	.size	_mlir_ciface_product_and_sum, .Lfunc_end1-_mlir_ciface_product_and_sum
	.cfi_endproc
                                        # -- End function
	.section	.text.startup,"ax",@progbits
	.p2align	4                               # -- Begin function kernels_load
	.type	kernels_load,@function
kernels_load:                           # @kernels_load
	.cfi_startproc
# %bb.0:                                # %entry
	pushq	%rax
	.cfi_def_cfa_offset 16
	leaq	kernels_binary(%rip), %rdi
	movl	$2, %esi
	callq	mgpuModuleLoadJIT@PLT
	movq	%rax, kernels_module(%rip)
	popq	%rax
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end2:
	.size	kernels_load, .Lfunc_end2-kernels_load
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function kernels_unload
	.type	kernels_unload,@function
kernels_unload:                         # @kernels_unload
	.cfi_startproc
# %bb.0:                                # %entry
	movq	kernels_module(%rip), %rdi
	jmp	mgpuModuleUnload@PLT            # TAILCALL
.Lfunc_end3:
	.size	kernels_unload, .Lfunc_end3-kernels_unload
	.cfi_endproc
                                        # -- End function
	.type	kernels_binary,@object          # @kernels_binary
	.section	.rodata,"a",@progbits
	.p2align	3, 0x0
kernels_binary:
	.asciz	"//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 7.5\n.target sm_75\n.address_size 64\n\n\t// .globl\tproduct\n// __wg_sum_0 has been demoted\n\n.visible .entry product(\n\t.param .u64 .ptr .align 1 product_param_0,\n\t.param .u64 .ptr .align 1 product_param_1,\n\t.param .u64 product_param_2,\n\t.param .u64 product_param_3,\n\t.param .u64 product_param_4,\n\t.param .u64 product_param_5,\n\t.param .u64 product_param_6,\n\t.param .u64 .ptr .align 1 product_param_7,\n\t.param .u64 .ptr .align 1 product_param_8,\n\t.param .u64 product_param_9,\n\t.param .u64 product_param_10,\n\t.param .u64 product_param_11,\n\t.param .u64 product_param_12,\n\t.param .u64 product_param_13,\n\t.param .u64 .ptr .align 1 product_param_14,\n\t.param .u64 .ptr .align 1 product_param_15,\n\t.param .u64 product_param_16,\n\t.param .u64 product_param_17,\n\t.param .u64 product_param_18,\n\t.param .u64 product_param_19,\n\t.param .u64 product_param_20\n)\n{\n\t.reg .pred \t%p<6>;\n\t.reg .b32 \t%r<19>;\n\t.reg .b64 \t%rd<41>;\n\n\tld.param.b64 \t%rd13, [product_param_3];\n\tld.param.b64 \t%rd17, [product_param_8];\n\tcvta.to.global.u64 \t%rd1, %rd17;\n\tld.param.b64 \t%rd18, [product_param_1];\n\tcvta.to.global.u64 \t%rd2, %rd18;\n\tld.param.b64 \t%rd19, [product_param_15];\n\tcvta.to.global.u64 \t%rd3, %rd19;\n\tmov.u32 \t%r1, %ctaid.x;\n\tmov.u32 \t%r2, %ctaid.y;\n\tmov.u32 \t%r3, %ntid.x;\n\tmov.u32 \t%r4, %ntid.y;\n\tmov.u32 \t%r5, %tid.x;\n\tcvt.u64.u32 \t%rd20, %r5;\n\tmov.u32 \t%r6, %tid.y;\n\tmul.wide.u32 \t%rd21, %r1, %r3;\n\tadd.s64 \t%rd4, %rd21, %rd20;\n\tmad.lo.s32 \t%r7, %r2, %r4, %r6;\n\tcvt.u64.u32 \t%rd5, %r7;\n\tmax.u64 \t%rd22, %rd5, %rd4;\n\tsetp.ge.u64 \t%p1, %rd22, %rd13;\n\t@%p1 bra \t$L__BB0_8;\n\tld.param.b64 \t%rd16, [product_param_19];\n\tshl.b64 \t%rd23, %rd4, 2;\n\tsetp.lt.s64 \t%p2, %rd13, 1;\n\tmov.b32 \t%r18, 0f00000000;\n\t@%p2 bra \t$L__BB0_7;\n\tld.param.b64 \t%rd15, [product_param_12];\n\tld.param.b64 \t%rd14, [product_param_5];\n\tadd.s64 \t%rd6, %rd1, %rd23;\n\tmul.lo.s64 \t%rd7, %rd14, %rd5;\n\tshl.b64 \t%rd24, %rd7, 2;\n\tsetp.eq.b64 \t%p3, %rd13, 1;\n\tmov.b64 \t%rd40, 0;\n\tmov.b32 \t%r18, 0f00000000;\n\t@%p3 bra \t$L__BB0_6;\n\tand.b64 \t%rd9, %rd13, 1;\n\tand.b64 \t%rd25, %rd13, 9223372036854775806;\n\tneg.s64 \t%rd10, %rd25;\n\tadd.s64 \t%rd26, %rd24, %rd2;\n\tadd.s64 \t%rd38, %rd26, 4;\n\tshl.b64 \t%rd11, %rd15, 2;\n\tshl.b64 \t%rd12, %rd15, 3;\n\tmov.b32 \t%r18, 0f00000000;\n\tmov.b64 \t%rd39, 0;\n\tmov.b64 \t%rd37, %rd6;\n$L__BB0_4:\n\tld.global.b32 \t%r8, [%rd38+-4];\n\tld.global.b32 \t%r9, [%rd37];\n\tmul.rn.f32 \t%r10, %r8, %r9;\n\tadd.rn.f32 \t%r11, %r18, %r10;\n\tld.global.b32 \t%r12, [%rd38];\n\tadd.s64 \t%rd27, %rd37, %rd11;\n\tld.global.b32 \t%r13, [%rd27];\n\tmul.rn.f32 \t%r14, %r12, %r13;\n\tadd.rn.f32 \t%r18, %r11, %r14;\n\tadd.s64 \t%rd39, %rd39, -2;\n\tadd.s64 \t%rd38, %rd38, 8;\n\tadd.s64 \t%rd37, %rd37, %rd12;\n\tsetp.ne.b64 \t%p4, %rd10, %rd39;\n\t@%p4 bra \t$L__BB0_4;\n\tsetp.eq.b64 \t%p5, %rd9, 0;\n\tneg.s64 \t%rd40, %rd39;\n\t@%p5 bra \t$L__BB0_7;\n$L__BB0_6:\n\tadd.s64 \t%rd8, %rd2, %rd24;\n\tshl.b64 \t%rd28, %rd40, 2;\n\tadd.s64 \t%rd29, %rd8, %rd28;\n\tld.global.b32 \t%r15, [%rd29];\n\tmul.lo.s64 \t%rd30, %rd40, %rd15;\n\tshl.b64 \t%rd31, %rd30, 2;\n\tadd.s64 \t%rd32, %rd6, %rd31;\n\tld.global.b32 \t%r16, [%rd32];\n\tmul.rn.f32 \t%r17, %r15, %r16;\n\tadd.rn.f32 \t%r18, %r18, %r17;\n$L__BB0_7:\n\tmul.lo.s64 \t%rd33, %rd16, %rd5;\n\tshl.b64 \t%rd34, %rd33, 2;\n\tadd.s64 \t%rd35, %rd3, %rd34;\n\tadd.s64 \t%rd36, %rd35, %rd23;\n\tst.global.b32 \t[%rd36], %r18;\n$L__BB0_8:\n\tret;\n\n}\n\t// .globl\tsum\n.visible .entry sum(\n\t.param .u64 .ptr .align 1 sum_param_0,\n\t.param .u64 .ptr .align 1 sum_param_1,\n\t.param .u64 sum_param_2,\n\t.param .u64 sum_param_3,\n\t.param .u64 sum_param_4,\n\t.param .u64 sum_param_5,\n\t.param .u64 sum_param_6,\n\t.param .u64 .ptr .align 1 sum_param_7,\n\t.param .u64 .ptr .align 1 sum_param_8,\n\t.param .u64 sum_param_9,\n\t.param .u64 sum_param_10,\n\t.param .u64 sum_param_11\n)\n{\n\t.reg .pred \t%p<9>;\n\t.reg .b32 \t%r<22>;\n\t.reg .b64 \t%rd<32>;\n\t// demoted variable\n\t.shared .align 4 .b8 __wg_sum_0[1024];\n\tld.param.b64 \t%rd8, [sum_param_3];\n\tld.param.b64 \t%rd10, [sum_param_1];\n\tcvta.to.global.u64 \t%rd1, %rd10;\n\tld.param.b64 \t%rd11, [sum_param_8];\n\tcvta.to.global.u64 \t%rd2, %rd11;\n\tmov.u32 \t%r1, %ctaid.x;\n\tmov.u32 \t%r2, %ntid.x;\n\tmov.u32 \t%r4, %tid.x;\n\tcvt.u64.u32 \t%rd4, %r4;\n\tmul.wide.u32 \t%rd12, %r1, %r2;\n\tadd.s64 \t%rd26, %rd12, %rd4;\n\tmul.lo.s64 \t%rd6, %rd8, %rd8;\n\tsetp.ge.s64 \t%p1, %rd26, %rd6;\n\tmov.b32 \t%r20, 0f00000000;\n\t@%p1 bra \t$L__BB1_6;\n\tld.param.b64 \t%rd9, [sum_param_5];\n\tmov.u32 \t%r3, %nctaid.x;\n\tmul.wide.u32 \t%rd5, %r3, %r2;\n\tmov.b32 \t%r20, 0f00000000;\n\tcvt.u32.u64 \t%r5, %rd8;\n\tbra.uni \t$L__BB1_2;\n$L__BB1_4:\n\tdiv.u64 \t%rd27, %rd26, %rd8;\n$L__BB1_5:\n\tmul.lo.s64 \t%rd15, %rd27, %rd8;\n\tsub.s64 \t%rd16, %rd26, %rd15;\n\tmul.lo.s64 \t%rd17, %rd27, %rd9;\n\tshl.b64 \t%rd18, %rd17, 2;\n\tadd.s64 \t%rd19, %rd1, %rd18;\n\tshl.b64 \t%rd20, %rd16, 2;\n\tadd.s64 \t%rd21, %rd19, %rd20;\n\tld.global.b32 \t%r8, [%rd21];\n\tadd.rn.f32 \t%r20, %r20, %r8;\n\tadd.s64 \t%rd26, %rd26, %rd5;\n\tsetp.lt.s64 \t%p3, %rd26, %rd6;\n\t@%p3 bra \t$L__BB1_2;\n\tbra.uni \t$L__BB1_6;\n$L__BB1_2:\n\tor.b64 \t%rd13, %rd26, %rd8;\n\tand.b64 \t%rd14, %rd13, -4294967296;\n\tsetp.ne.b64 \t%p2, %rd14, 0;\n\t@%p2 bra \t$L__BB1_4;\n\tcvt.u32.u64 \t%r6, %rd26;\n\tdiv.u32 \t%r7, %r6, %r5;\n\tcvt.u64.u32 \t%rd27, %r7;\n\tbra.uni \t$L__BB1_5;\n$L__BB1_6:\n\tcvt.u32.u64 \t%r9, %rd4;\n\tshl.b64 \t%rd22, %rd4, 2;\n\tmov.b64 \t%rd23, __wg_sum_0;\n\tadd.s64 \t%rd24, %rd23, %rd22;\n\tst.shared.b32 \t[%rd24], %r20;\n\tbar.sync \t0;\n\tsetp.ne.b32 \t%p4, %r9, 0;\n\t@%p4 bra \t$L__BB1_14;\n\tcvt.u64.u32 \t%rd3, %r2;\n\tcvt.u32.u64 \t%r10, %rd3;\n\tand.b64 \t%rd30, %rd3, 3;\n\tsetp.lt.u32 \t%p5, %r10, 4;\n\tmov.b64 \t%rd29, 0;\n\tmov.b32 \t%r21, 0f00000000;\n\t@%p5 bra \t$L__BB1_11;\n\tadd.s64 \t%rd28, %rd23, 8;\n\tand.b64 \t%rd7, %rd3, 2044;\n\tmov.b64 \t%rd29, 0;\n\tmov.b32 \t%r21, 0f00000000;\n$L__BB1_9:\n\tld.shared.v4.b32 \t{%r11, %r12, %r13, %r14}, [%rd28+-8];\n\tadd.rn.f32 \t%r15, %r21, %r11;\n\tadd.rn.f32 \t%r16, %r15, %r12;\n\tadd.rn.f32 \t%r17, %r16, %r13;\n\tadd.rn.f32 \t%r21, %r17, %r14;\n\tadd.s64 \t%rd29, %rd29, 4;\n\tadd.s64 \t%rd28, %rd28, 16;\n\tsetp.ne.b64 \t%p6, %rd7, %rd29;\n\t@%p6 bra \t$L__BB1_9;\n\tsetp.eq.b64 \t%p7, %rd30, 0;\n\t@%p7 bra \t$L__BB1_13;\n$L__BB1_11:\n\tshl.b64 \t%rd25, %rd29, 2;\n\tadd.s64 \t%rd31, %rd23, %rd25;\n$L__BB1_12:\n\t.pragma \"nounroll\";\n\tld.shared.b32 \t%r18, [%rd31];\n\tadd.rn.f32 \t%r21, %r21, %r18;\n\tadd.s64 \t%rd31, %rd31, 4;\n\tadd.s64 \t%rd30, %rd30, -1;\n\tsetp.ne.b64 \t%p8, %rd30, 0;\n\t@%p8 bra \t$L__BB1_12;\n$L__BB1_13:\n\tatom.global.add.f32 \t%r19, [%rd2], %r21;\n$L__BB1_14:\n\tret;\n\n}\n"
	.size	kernels_binary, 6287

	.type	kernels_module,@object          # @kernels_module
	.local	kernels_module
	.comm	kernels_module,8,8
	.section	.init_array.123,"aw",@init_array
	.p2align	3, 0x0
	.quad	kernels_load
	.section	.fini_array.123,"aw",@fini_array
	.p2align	3, 0x0
	.quad	kernels_unload
	.type	.Lkernels_product_name,@object  # @kernels_product_name
	.section	.rodata.str1.1,"aMS",@progbits,1
.Lkernels_product_name:
	.asciz	"product"
	.size	.Lkernels_product_name, 8

	.type	.Lkernels_sum_name,@object      # @kernels_sum_name
.Lkernels_sum_name:
	.asciz	"sum"
	.size	.Lkernels_sum_name, 4

	.section	".note.GNU-stack","",@progbits
