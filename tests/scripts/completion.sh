#!/bin/sh
# bash, zsh and fish load the completion of each tool, by themselves, and complete an option and the name of a file. tools/completion makes
# the three from --help, so that one option stands for all.
# shellcheck disable=SC2317 # functions are called by name
# make builds for it: library tools
. tests/support/lib.sh
O=$build
PATH=$O/tools:$PATH
export O PATH
cd "$work"
: >here.c

# complete_SHELL TOOL WORD: what WORD, the first behind TOOL, is completed to; files by bash itself where its function has nothing
complete_bash() {
    bash --norc -euc 'source "$O/completion/bash/$1"; set -- "$@" "$(complete -p "$1")"; words=($3); COMP_WORDS=("$1" "$2") COMP_CWORD=1
        for i in "${!words[@]}"; do [[ ${words[i]} != -F ]] || "${words[i + 1]}" "$1" "$2" "$1"; done
        printf "%s\n" "${COMPREPLY[@]}"; [[ ${#COMPREPLY[@]} != 0 || $3 != *default* ]] || compgen -f -- "$2"' bash "$1" "$2"
}
complete_zsh() {
    TERM=dumb PS1=READY zsh -fs "$1" "$2" <<'ZSH'
zmodload zsh/zpty
zpty shell zsh -fi
zpty -r -m shell said '*READY*'
zpty -w shell 'fpath=($O/completion/zsh $fpath); autoload -U compinit; compinit -u -D; PS1=LOAD""ED'
zpty -r -m shell said '*LOADED*'
zpty -wn shell "$1 $2"$'\t'
all=
for wait in {1..50}; do sleep 0.1; while zpty -rt shell said; do all+=$said; done; [[ $all != *$2?* ]] || break; done
print -r -- $all
ZSH
}
complete_fish() { fish --no-config -c "source $O/completion/fish/$1.fish; complete -C'$1 $2'"; }

missing=
for shell in bash zsh fish; do
    command -v "$shell" >/dev/null || { missing="$missing no $shell"; continue; }
    for tool in rex-cc rex-check rex-info rex-report rex-run; do
        "complete_$shell" "$tool" --vers | grep -q -e --version || fail "$shell, $tool --vers"
    done
    "complete_$shell" rex-check her | grep -qF here.c || fail "$shell, rex-check her"
done
[ -z "$missing" ] || [ "$failed" = 1 ] || skip "$missing"
