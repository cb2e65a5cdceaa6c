# Rename what librex 0.2 calls otherwise than 0.1, in a program's sources, and give its kernels'
# parameters their types:
#
#     sed -E -i -f rename-0.1-to-0.2.sed *.c *.h *.cu
#
# Running it twice does no harm. CHANGELOG.md has the table, and says what no script can change.
# tests/scripts/rename.sh looks for each documented name of 0.1. It is there still, or has a rule
# below, or stands here:
# gone: rex_arg rex_arg_b rex_arg_bool rex_arg_char REX_ARG_COPY rex_arg_double rex_arg_f32
# gone: rex_arg_f64 rex_arg_float rex_arg_i16 rex_arg_i32 rex_arg_i64 rex_arg_i8 rex_arg_int
# gone: rex_arg_int16 rex_arg_int32 rex_arg_int8 rex_arg_u16 rex_arg_u32 rex_arg_u64 rex_arg_u8
# gone: rex_arg_uint rex_arg_uint16 rex_arg_uint32 rex_arg_uint8 rex_device_call
# gone: rex_device_parameters rex_gpu_check rex_has_lane rex_image_list_item
# gone: rex_image_view_architecture rex_image_view_entry rex_image_view_kind
# gone: rex_image_view_nearest rex_image_view_parameter rex_image_view_symbol rex_info_release
# gone: rex_lanes REX_KERNEL_PARAMETERS rex_kernel_parameters REX_KERNEL_STEM_PARAMETERS
# gone: rex_library_launch_packed rex_map_bases rex_map_begins rex_map_count REX_MAP_OF
# gone: rex_map_sizes rex_map_types rex_module_queue_from_stream rex_mpi rex_mpi_allreduce
# gone: REX_MPI_CHUNK rex_mpi_close REX_MPI_DEPTH rex_mpi_error rex_mpi_halo rex_mpi_irecv
# gone: rex_mpi_isend rex_mpi_open rex_mpi_recv rex_mpi_request rex_mpi_send rex_mpi_sendrecv
# gone: rex_mpi_side rex_mpi_test rex_mpi_wait rex_mpi_waitall rex_not_inside_REX_FOR
# gone: rex_number_in_team rex_queue_name rex_release_next rex_row_base rex_row_begin
# gone: REX_DATA_REGION_OWNING rex_row_size rex_row_type REX_ROWS_MAX rex_runtime_takes
# gone: rex_queue_launch rex_module_queue_launch REX_KMP_SAFE rex_literal_bits
# gone: rex_module_launch_packet rex_module_launch_registered rex_module_register_image
# gone: rex_packet_fill rex_ready REX_OPTION_CACHE
# gone: rex_module_check_map
s/\bREX_TYPE_TOFROM\b/REX_MAP_TOFROM/g
s/\bREX_TYPE_TO\b/REX_MAP_TO/g
s/\bREX_TYPE_FROM\b/REX_MAP_FROM/g
s/\bREX_TYPE_ALWAYS\b/REX_MAP_ALWAYS/g
s/\bREX_TYPE_DELETE\b/REX_MAP_DELETE/g
s/\bREX_TYPE_POINTER\b/REX_MAP_PTR_AND_OBJ/g
s/\bREX_TYPE_PARAMETER\b/REX_MAP_TARGET_PARAM/g
s/\bREX_TYPE_RETURN\b/REX_MAP_RETURN_PARAM/g
s/\bREX_TYPE_PRIVATE\b/REX_MAP_PRIVATE/g
s/\bREX_TYPE_LITERAL\b/REX_MAP_LITERAL/g
s/\bREX_TYPE_IMPLICIT\b/REX_MAP_IMPLICIT/g
s/\bREX_TYPE_CLOSE\b/REX_MAP_CLOSE/g
s/\bREX_TYPE_PRESENT\b/REX_MAP_PRESENT/g
s/\bREX_TYPE_HOLD\b/REX_MAP_OMPX_HOLD/g
s/\bREX_TYPE_MEMBER_OF\b/REX_MAP_MEMBER_OF/g
s/\bREX_TYPE_MEMBER_MASK\b/REX_MAP_MEMBER_OF_MASK/g
s/\bREX_TYPE_KIND_MASK\b/REX_MAP_KIND_MASK/g
s/\bREX_TYPE_KIND\b/REX_MAP_KIND/g
s/\bREX_TYPE_ALLOC\b/REX_MAP_ALLOC/g
s/\brex_kernel_launch_of\b/rex_launch_config_of/g
s/\brex_kernel_launch\b/rex_launch_config/g
s/\brex_cursor\b/rex_map_builder/g
s/\brex_push_rectangle\b/rex_map_add_strided/g
s/\brex_push_row\b/rex_map_add/g
s/\brex_push\b/rex_map_add/g
s/\brex_map_elements\b/rex_map_add_mapped/g
s/\brex_cursor_row\b/rex_map_next_row/g
s/\bREX_POINTEE\b/REX_ATTACH/g
s/\bREX_DEVICE_POINTER\b/REX_IS_DEVICE_PTR/g
s/\bREX_USE_DEVICE_POINTER\b/REX_USE_DEVICE_PTR/g
s/\brex_image_list_view\b/rex_image_view_open/g
s/\brex_is_present\b/rex_target_is_present/g
s/\brex_device_address\b/rex_mapped_ptr/g
s/\brex_device_local\b/rex_device_for_rank/g
s/\brex_pin\b/rex_host_register/g
s/\brex_unpin\b/rex_host_unregister/g
s/\brex_pinned_alloc\b/rex_host_alloc/g
s/\brex_pinned_free\b/rex_host_free/g
s/\brex_queue_wait\b/rex_queue_wait_event/g
s/\brex_queue_done\b/rex_queue_query/g
s/\brex_event_done\b/rex_event_query/g
s/\brex_queue_call\b/rex_queue_host_func/g
s/\brex_queue_is_immediate\b/rex_queue_is_synchronous/g
s/\bREX_QUEUE_FRESH\b/REX_QUEUE_NO_CACHE/g
s/\bREX_QUEUE_STEPWISE\b/REX_QUEUE_BLOCKING/g
s/\brex_event_seconds\b/rex_event_elapsed/g
s/\brex_graph_set\b/rex_graph_set_args/g
s/\brex_data_begin\b/rex_data_enter/g
s/\brex_data_end\b/rex_data_exit/g
s/\brex_module_data_begin\b/rex_module_data_enter/g
s/\brex_module_data_end\b/rex_module_data_exit/g
s/\brex_error_text\b/rex_error_name/g
s/\bREX_DATA_MAP\b/REX_MAP/g
s/\brex_row_in_region\b/REX_NO_PARAM/g
s/\brex_info\(([^(),]+,[^(),]+\))/rex_info(0, \1/g
# Without the number of rows.
s/\bREX_MAP_OF(\(\w+),[^,]+,/REX_MAP\1,/g
# The error is first now. Rows and other arguments with parentheses are left alone.
/\bREX_DATA_REGION\(NULL\b/! {
    s/\b(REX_DATA_REGION\(-?\w+, *[A-Za-z_*][^(),]*)\)/\1, NULL)/g
}
s/\b(REX_DATA_REGION)\((-?\w+, *[A-Za-z_*][^(),]*), *(NULL|&[^(),]+)\)/\1_MAP(\3, \2)/g
# With the module's own image.
s/\b(rex_module_register\([^(),]+)\)/\1, NULL)/g
# With no stream.
s/\b(rex_module_queue_create\(([^(),]*,){4}[^(),]*)\)/\1, NULL)/g

# Kernels, and functions that take a rex_arg: it has the type that it is read as; a kernel's
# parameters are (type) name.
/\bREX_DEVICE_KERNEL(_ENV)?(_STEM)?\(|\brex_arg(_[a-z0-9]+)? +\w+[,)]/ {
    # The pattern space takes the whole function.
    :function
    /\n\}|^[^\n]*\}[ \t]*$/! {
        $! {
            N
            b function
        }
    }
    s/\brex_arg_b( +[A-Za-z_])/bool\1/g
    s/\brex_arg_f32( +[A-Za-z_])/float\1/g
    s/\brex_arg_f64( +[A-Za-z_])/double\1/g
    s/\brex_arg_i(8|16|32|64)( +[A-Za-z_])/int\1_t\2/g
    s/\brex_arg_u(8|16|32|64)( +[A-Za-z_])/uint\1_t\2/g
    :argument
    s/(\(|, *|\n *)rex_arg( +(\w+)[,)].*\brex_arg_(bool|char|float|double)\(\3\))/\1\4\2/
    t argument
    s/(\(|, *|\n *)rex_arg( +(\w+)[,)].*\brex_arg_(u?int)(8|16|32)\(\3\))/\1\4\5_t\2/
    t argument
    s/(\(|, *|\n *)rex_arg( +(\w+)[,)].*\brex_arg_(u?int)\(\3\))/\1\464_t\2/
    t argument
    s/\brex_arg( +[A-Za-z_])/uint64_t\1/g
    s/\brex_arg_(bool|char|float|double|u?int(8|16|32)?)\((\w+)\)/\3/g
    s/\brex_arg_(bool|char|float|double|u?int(8|16|32)?)\(/(/g
    :parameter
    s/(\bREX_DEVICE_KERNEL\w*\(([^()]|\([^()]*\))*,\s*)(\w[^(),]*[* \t\n])(\w+\s*[,)])/\1(\3) \4/
    t parameter
    :space
    s/(\bREX_DEVICE_KERNEL\w*\(([^()]|\([^()]*\))*,\s*\([^()]*\S)\s+\)/\1)/
    t space
    # What a team shares is inside of its loop.
    :shared
    s/(\n[ \t]*)(REX_SHARED[^;]*;)(\n[ \t]*REX_FOR_TEAMS\([^\n]*\)\s*\{)/\3\1    \2/
    t shared
}
