#!/bin/sh
# rex-report on traces of programs on the CPU and on the fake GPU: advice for those that deserve it and not for their cure; pages without a
# script, whatever names are in them; what is refused; the two steps that rex-run --report does. Its parts are tested in unit/report.
. tests/support/lib.sh
needs_release 19
report=$build/tools/rex-report
rex_run=$build/tools/rex-run

# ---- the command line

command_line rex-report
refused 2 'no trace is named' "$report"
refused 2 'one trace at a time' "$report" one two
refused 2 '--frobnicate: no such option' "$report" --frobnicate one
refused 2 'No such file' "$report" "$work/none"
refused 2 'it is a folder' "$report" "$work"
: >"$work/empty"
refused 2 'it is empty' "$report" "$work/empty"
refused 2 'it does not begin like a trace of librex' "$report" Makefile
printf '[\n]\n' >"$work/nothing"
refused 2 '-: it has no line of librex' "$report" - <"$work/nothing"

# ---- advice

host_image "$work/rex_lib_host.so" tests/tools/rex-report/kernels.cu
program "$work/program" tests/tools/rex-report/program.c

# traced WAY: in $work/WAY.json
traced() { REX_TRACE=$work/$1.json on_release "$work/program" "$1" 40 || fail "the program, $1"; }
# advice WAY [SED]: all that is advised for the program, changed by SED
advice() {
    run "$report" "$work/$1.json"
    ends 0 "$1"
    { echo "$1:"; sed -n '/^Advice/,/^$/p' "$work/out" | sed 1d | tr -s '\n ' ' ' | sed -E "s/ - /\n    - /g; s/0x[0-9a-f]+/0x*/g; ${2-}"; echo; } >>"$work/advice"
}
time='[0-9.]+ (ns|us|ms|s)'
for way in each inside around; do traced "$way"; done
sed '0,/"result":0/s//"result":1/' "$work/around.json" >"$work/failed.json"
# Fewer than 20 calls: nothing is judged, but what failed is said.
REX_TRACE=$work/short.json on_release "$work/program" each 19 || fail 'the program, each, 19 times'
sed '0,/"result":0/s//"result":1/' "$work/short.json" >"$work/failed-short.json"
for way in each inside around failed short failed-short; do advice $way "s/$time/#/g"; done
# The figures of its tables: what was launched, and what copied.
run "$report" "$work/around.json"
grep -qE '^  twice__kernel__  waited for        40 ' "$work/out" || fail 'the table of kernels'
grep -qE "^  data enter +1  +$time +$time +400 kB +0 bytes " "$work/out" || fail 'the table of copies'
grep -q "Copied in total, including the copies of launches: 400 kB to devices, 0 bytes" "$work/out" || fail 'the bytes'
grep -qE '^program, process [0-9]+: 40 launches in .* on the CPU; [0-9 ]+ events$' "$work/out" || fail "the facts: $(sed 1q "$work/out")"
! grep -q 'ends before' "$work/out" || fail 'a whole trace is doubted'

# ---- advice for a GPU: the fake one, and each event takes 20 us, so that no advice depends on a clock

mkdir "$work/gpu" "$work/globals"
for folder in gpu globals; do
    flags=
    [ $folder = gpu ] || flags=-DGLOBAL
    # Flags are words, or none.
    # shellcheck disable=SC2086
    {
        host_image "$work/$folder/host.so" tests/tools/rex-report/kernels.cu $flags
        program "$work/$folder/program" tests/tools/rex-report/program.c $flags
    }
    "$build/tests/fake/cubin" "$work/$folder/host.so" "$work/$folder/rex_lib_nvidia.cubin"
done
# on_gpu WAY LAUNCHES [FOLDER]: what is advised
on_gpu() {
    (
        export FAKE_CUDA_ORDER=late FAKE_CUDA_MEMORY=1024 LD_LIBRARY_PATH="$build/tests/fake/cuda"
        REX_TRACE=$work/trace.json on_release "$work/${3-gpu}/program" "$1" "$2"
    ) || fail "the program, $1, on a GPU"
    sed 's/"dur":[0-9.]*/"dur":20.000/' "$work/trace.json" >"$work/$1.json"
    printf '%s launches on a GPU%s, ' "$2" "${3+, with $3}" >>"$work/advice"
    advice "$1"
}
on_gpu around 200
# The same launches, deferred: none is waited for, and each counts once.
printf 'deferred, ' >>"$work/advice"
REX_LAUNCH_BLOCKING=0
export REX_LAUNCH_BLOCKING
on_gpu around 200
unset REX_LAUNCH_BLOCKING
grep -qE '^program, process [0-9]+: 200 launches \(200 of them deferred\) in ' "$work/out" || fail "deferred: $(sed 1q "$work/out")"
grep -qE '^  twice__kernel__  deferred +200 ' "$work/out" || fail 'the table of kernels, deferred'
! grep -qE '^  (deferred launch|twice__kernel__  waited for) ' "$work/out" || fail 'deferred launches count twice'
on_gpu queue 1200
on_gpu graph 1200
on_gpu pageable 0
on_gpu pinned 0
on_gpu around 99 globals
on_gpu around 200 globals
golden rex-report/advice.txt "$work/advice"

# ---- how busy: what lies in another slice counts once, and nothing is lost when what a column stands for becomes wider, on either side

# Bars have eight heights where the locale has UTF-8.
export LC_ALL=C.UTF-8
# busy SLICE...: BEGIN:LENGTH in microseconds, of a thread
busy() {
    {
        printf '[\n{"ph":"M","name":"process_name","pid":7,"tid":7,"args":{"name":"p"}}\n'
        printf ',{"ph":"M","name":"thread_name","pid":7,"tid":7,"args":{"name":"main thread"}}\n'
        for slice; do
            printf ',{"ph":"X","cat":"phase","pid":7,"tid":7,"ts":%s.000,"dur":%s.000,"name":"a","args":{}}\n' "${slice%:*}" "${slice#*:}"
        done
        echo ']'
    } >"$work/slices.json"
    { echo "$*"; "$report" "$work/slices.json" | grep '|'; } >>"$work/busy"
}
busy 1000:10 1020:10 1000:100 1900:100
busy 1000:10 9000000:500
busy 9000000:500 9000600:100 10:9000790
# Very many threads, names and slices: those that have no room are counted.
{
    printf '[\n{"ph":"M","name":"process_name","pid":7,"tid":7,"args":{"name":"p"}}\n'
    seq 300 | sed 's/.*/,{"ph":"M","name":"thread_name","pid":7,"tid":&,"args":{"name":"t"}}/'
    seq 300 | sed 's/.*/,{"ph":"X","cat":"launch","pid":7,"tid":&,"ts":1,"dur":5,"name":"k&","args":{}}/'
    seq 300 | sed 's/.*/,{"ph":"X","cat":"phase","pid":7,"tid":1,"ts":&00,"dur":50,"name":"p&","args":{}}/'
    printf ',{"ph":"X","cat":"phase","pid":7,"tid":1,"ts":10050,"dur":20000,"name":"all","args":{}}\n]\n'
} >"$work/many.json"
run "$report" --text -o "$work/many.html" "$work/many.json"
{ echo many; cat "$work/out" "$work/many.html"; } | grep -E '^many|and [0-9]+ more|^  t \(thread 1\) ' >>"$work/busy"
golden rex-report/busy.txt "$work/busy"

# ---- traces that are cut off, or not librex's alone

head -c -100 "$work/each.json" >"$work/cut.json"
run "$report" "$work/cut.json"
grep -q '1 line of the trace could not be read. The trace ends before the program did' "$work/out" || fail "cut off: $(sed 3q "$work/out")"
run on_release env REX_TRACE="$work/abort.json" "$work/program" abort 40
run "$report" "$work/abort.json"
grep -q '^The trace ends before the program did' "$work/out" || fail "aborted: $(sed 3q "$work/out")"

# ---- pages: whatever names there are, no script and nothing that is loaded

sed 's|"name":"twice__kernel__"|"name":"<script>alert(1)</script>\&\\u001b[31m\\u009b"|; s|"name":"main thread"|"name":"\\"><img src=x>"|' \
    "$work/each.json" >"$work/hostile.json"
run "$report" -o "$work/page.html" "$work/hostile.json"
if [ "$status" != 0 ] || [ -s "$work/out" ]; then fail "-o: status $status: $(cat "$work/out" "$work/err")"; fi
python3 - "$work/page.html" <<'PYTHON' || fail 'the page'
import html.parser
import sys

EMPTY = {"meta", "path"}


class Page(html.parser.HTMLParser):
    open, text, tags, links = [], "", [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open += [tag] * (tag not in EMPTY)
        self.links += [(tag, name, value) for name, value in attributes
                       if name in ("src", "href", "srcset", "action") or name.startswith("on")]

    def handle_endtag(self, tag):
        if tag not in EMPTY and (not self.open or self.open.pop() != tag):
            sys.exit("</%s> closes another tag" % tag)

    def handle_data(self, data):
        self.text += data


text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
page.close()
if page.open or {"script", "img"} & set(page.tags) or "url(" in text or "@import" in text:
    sys.exit("not closed, or something is run or loaded: %s, %s" % (page.open, set(page.tags)))
if page.links != [("a", "href", "https://ui.perfetto.dev")]:
    sys.exit("links: %s" % page.links)
for part in ("<script>alert(1)</script>&\\x1b[31m", "\"><img src=x>", "400 kB", "hostile.json", "copied both ways again"):
    if part not in page.text:
        sys.exit("%s is not on the page" % part)
if page.tags.count("svg") < 2 or page.tags.count("path") < 2 or len(text) > 100000:
    sys.exit("%s, %d characters" % (page.tags, len(text)))
PYTHON
cp "$work/each.json" "$work/same.json"
refused 2 'it is the trace itself' "$report" -o "$work/same.json" "$work/same.json"
cmp -s "$work/each.json" "$work/same.json" || fail 'the trace is overwritten'
refused 2 'No such file' "$report" -o "$work/none/page.html" "$work/each.json"
# Where a page cannot be written whole, the older one stays.
cp "$work/page.html" "$work/older.html"
ln -s page.html "$work/link.html"
for page in page.html link.html new.html; do
    run sh -c 'ulimit -f 1 && exec "$@"' sh "$report" -o "$work/$page" "$work/each.json"
    ends 2 'a page that is too large'
    says "$page cannot be written: File too large"
done
cmp "$work/page.html" "$work/older.html" || fail 'an older page is written over'
run "$report" -o "$work/link.html" "$work/each.json"
if [ ! -h "$work/link.html" ] || cmp -s "$work/page.html" "$work/older.html"; then fail 'a page by way of a link'; fi
for left in "$work"/*.html.?????? "$work/new.html"; do [ ! -e "$left" ] || fail "$left stays"; done
refused 2 '--output: the value is empty' "$report" -o '' "$work/each.json"
refused 2 '/dev/full cannot be written: No space left' "$report" -o /dev/full "$work/each.json"
run "$report" --text -o "$work/both.html" - <"$work/each.json"
if [ ! -s "$work/out" ] || [ ! -s "$work/both.html" ]; then fail '--text -o'; fi

# ---- both steps

run on_release "$rex_run" --report="$work/report.html" "$work/program" each 40
ends 0 '--report'
grep -q 'copied both ways again at each of 39 launches' "$work/report.html" || fail '--report: the page'
[ -s "$work/report.html.json" ] || fail '--report: the trace is gone'
run on_release "$rex_run" --trace="$work/other.json" --report="$work/other.html" "$work/program" \
    abort 40
ends 134 '--report, a program that aborts'
grep -q 'ends before the program did' "$work/other.html" || fail '--report after an abort'
[ -s "$work/other.json" ] || fail '--trace with --report'
run "$rex_run" --report="$work/other.html" sh -c 'exit 3'
ends 3 '--report'
says 'because nothing was offloaded'
refused 125 'a report needs one file' "$rex_run" --report=x --trace=%p.json true
refused 125 'the value is empty' "$rex_run" --report= true

# ---- outputs behind links: a folder that may not be searched, also by root here; and a folder like /tmp, where the kernel follows no link of
# another user

mkdir "$work/shut"
mkdir -m 1777 "$work/sticky"
cp "$work/each.json" "$work/victim"
for name in page.html trace.html.json; do
    ln -sf shut/file "$work/$name"
    ln -s ../victim "$work/sticky/$name"
done
chmod 0 "$work/shut"
limited=
[ "$(id -u)" != 0 ] || limited='setpriv --bounding-set=-dac_override,-dac_read_search'
# unreachable FOLDER
unreachable() {
    for name in page trace; do
        # Words of a command, or none.
        # shellcheck disable=SC2086
        refused 125 'Permission denied' $limited "$rex_run" --report="$1/$name.html" true
    done
}
unreachable "$work"
chmod 700 "$work/shut"
if [ "$(id -u)" != 0 ] || [ "$(cat /proc/sys/fs/protected_symlinks)" != 1 ]; then
    echo 'left out: the link of another user: needs root, and fs.protected_symlinks=1'
    exit "$failed"
fi
chown -h 65534 "$work/sticky"/*
unreachable "$work/sticky"
refused 2 'page.html: Permission denied' "$report" -o "$work/sticky/page.html" "$work/each.json"
cmp "$work/each.json" "$work/victim" || fail 'a link of another user is followed'
