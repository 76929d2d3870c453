/**
 * Scenes for the fuzzer: short sequences of commands, one call each, around one thing that bash keeps between commands.
 * Scenes share a few names, so that one finds what another has left.
 */
import { fc } from '../../fixtures/fast-check.js'

type Scene = readonly string[]

const arrays: readonly Scene[] = [
  [
    'arr=(one "two words" "" three)',
    'arr[7]=seven; unset "arr[1]"',
    'echo "${!arr[@]}:${#arr[@]}"; printf "<%s>" "${arr[@]}"',
  ],
  [
    'declare -A map=([k]="v w" ["a b"]=c)',
    'map[k]+=more; map[$k]=x 2>/dev/null',
    'for i in "${!map[@]}"; do echo "$i=${map[$i]}"; done | sort',
  ],
  ['declare -A map', 'unset "map[k]"; echo "${map[k]-gone} ${#map[@]}"'],
  ['arr+=(more); echo "${arr[-1]}" "${arr[@]:1:2}"', 'declare -p arr'],
  ['mapfile -t arr < lines.txt', 'echo "${arr[@]/o/0}" "${arr[@]^^}"'],
  ['readarray -d "" arr < <(printf "a\\0b c\\0")', 'echo "${#arr[@]} ${arr[1]}"'],
  ['IFS=: read -ra arr <<<"x:y:z"', 'echo "${arr[*]}" "$IFS" | od -c | head -2'],
  ['declare -ai nums=(1+1 2*3)', 'nums[0]+=5; echo "${nums[@]}"'],
  ['unset arr', 'arr=single; arr[2]=third; declare -p arr'],
]
const references: readonly Scene[] = [
  ['declare -n ref=arr', 'ref+=(through)', 'echo "${ref[@]} ${!ref}"', 'unset -n ref'],
  ['declare -n ref=a', 'ref=set; echo "$a"', 'unset ref; echo "${a-gone}"'],
  ['byname() { local -n r=$1; r=changed; }', 'a=before; byname a; echo "$a"'],
  ['declare -n nowhere', 'nowhere=a; nowhere=value; echo "$a ${!nowhere}"', 'unset -n nowhere'],
  ['v=a; a=indirect; echo "${!v}"', 'printf -v a "%03d" 7; echo "$a"', 'declare -g a=global; echo "${a@Q} ${a@A}"'],
]
const coprocesses: readonly Scene[] = [
  [
    'coproc pidc { while read -r l; do echo "got $l"; done; }',
    'echo hi >&"${pidc[1]-}"; read -r answer <&"${pidc[0]}"; echo "$answer"',
    'echo again >&"${pidc[1]-}"; read -r answer <&"${pidc[0]}"; echo "$answer"',
    '[[ -z ${pidc[1]-} ]] || eval "exec ${pidc[1]}>&-"; wait "$pidc_PID"; echo "$?"',
  ],
  ['coproc pidc { cat; exit 5; }', '[[ -z ${pidc[1]-} ]] || eval "exec ${pidc[1]}>&-"; wait; echo done'],
]
const documents: readonly Scene[] = [
  ['cat <<-END\n\tone $a\n\t\ttwo\n\tEND'],
  ["cat <<'END'\n$a `b` \\c\nEND"],
  ['cat <<ONE; cat <<TWO\nfirst ${a-none}\nONE\nsecond $(echo sub)\nTWO'],
  ['doc() { cat <<END\nin $1\nEND\n}', 'doc here', 'declare -f doc'],
  ['while read -r x y; do echo "$y $x"; done <<END\na b\nc d\nEND', 'echo "${x-unset}"'],
  ['read -rd "" text <<END\nmany\nlines\nEND', 'printf "%s" "$text"'],
  ['cat <<END | tr a-z A-Z\nshout $((6*7))\nEND\necho "${PIPESTATUS[@]}"'],
  ['a=$(cat <<END\ninner "$b"\nEND\n); echo "$a"'],
  ['if cat <<END; then echo yes; fi\nbody\nEND'],
  ['cat <<<"$a"; cat <<<"two\nlines"'],
]
const substitutions: readonly Scene[] = [
  ['cat <(echo a) <(echo b)', 'diff <(seq 3) <(seq 1 3) && echo same'],
  ['exec 6< <(seq 5)', 'read -r a <&6; echo "$a"', 'read -r a <&6; echo "$a"', 'exec 6<&-'],
  ['n=0; while read -r l; do n=$((n+1)); done < <(printf "x\\ny\\n"); echo $n'],
  ['echo into | tee >(cat >psub) >/dev/null; wait; sleep 0.05; cat psub'],
  ['paste <(seq 2) <(seq 3 4)', 'wc -l < <(yes | head -100)'],
  ['exec 7> >(cat >late)', 'echo to late >&7', 'exec 7>&-; sleep 0.1; cat late'],
  ['echo "$(echo "$(echo deep)")" `echo back`', 'a=$(exit 6); echo $?', 'a=$(<lines.txt); echo "${#a}"'],
]
const traps: readonly Scene[] = [
  [`trap 'echo "E:$?"' ERR`, 'false', '(exit 9)', 'false || true', 'if false; then :; fi', 'trap - ERR'],
  [`trap 'echo "D:$BASH_COMMAND"' DEBUG`, 'a=1; echo "$a"', 'trap - DEBUG'],
  ['set -T', `trap 'echo "R:\${FUNCNAME-}"' RETURN`, 'r1() { echo in; }; r1', 'trap - RETURN', 'set +T'],
  [`trap 'echo usr1 "$?"' USR1`, 'kill -USR1 $$; echo after', '(exit 3); kill -USR1 $$', 'trap - USR1'],
  ["trap 'echo int' INT", 'kill -INT $$; echo alive', 'trap - INT'],
  ["trap 'echo term' TERM", 'kill -TERM $$; echo alive', 'trap', 'trap - TERM'],
  ["(trap 'echo bye' EXIT; exit 3)", 'bash -c \'trap "echo gone" EXIT; exit 4\''],
  ["sub() { trap 'echo local return' RETURN; echo body; }; sub", 'sub; trap - RETURN'],
  ["trap '' PIPE", 'yes 2>/dev/null | head -1', 'trap - PIPE'],
  ["trap 'x=1' CHLD", '/bin/true; (:); echo "$x"', 'trap - CHLD; unset x'],
  ["set -E; trap 'echo deep' ERR", 'e1() { false; true; }; e1', 'set +E; trap - ERR'],
  ["trap 'trap - USR2; echo once' USR2", 'kill -USR2 $$', 'trap -p USR2'],
]
const execs: readonly Scene[] = [
  ['exec {fdv}>chosen', 'echo line >&"$fdv"; [ "$fdv" -ge 10 ] && echo high', 'exec {fdv}>&-; cat chosen; unset fdv'],
  ['exec 3<>both', 'echo rw >&3; cat <both', 'exec 3>&-'],
  ['exec 8>&1 >captured', 'echo hidden', 'exec 1>&8 8>&-', 'cat captured'],
  ['exec 9>&2 2>errors', 'ls nowhere-at-all; echo "$?"', 'exec 2>&9 9>&-', 'wc -l <errors'],
  ['exec <lines.txt', 'read -r a; echo "$a"', 'read -r a; echo "$a"', 'cat', 'exec </dev/null'],
  ['exec 5>&1', 'echo five >&5', 'exec 5>&-', 'echo gone 2>/dev/null >&5'],
  ['exec 4<<<"from a string"', 'cat <&4; exec 4<&-'],
  ['exec 2>&1', 'ls nowhere-at-all >/dev/null; echo err >&2'],
  ['{ echo grouped; echo err >&2; } 3>&1 1>&2 2>&3 3>&-'],
  ['{ echo a; exec >inner; echo b; } | cat; cat inner 2>/dev/null'],
]
const options: readonly Scene[] = [
  ['shopt -s lastpipe', 'echo piped | read -r a; echo "$a"', 'shopt -u lastpipe'],
  ['shopt -s nullglob', 'echo no*match', 'shopt -u nullglob'],
  ['shopt -s failglob', 'echo no*match; echo never', 'shopt -u failglob'],
  ['shopt -s extglob', 'case abc in @(a|b)*) echo ext;; esac', 'echo !(lines.txt)', 'shopt -u extglob'],
  ['shopt -s globstar', 'echo **', 'shopt -u globstar'],
  ['shopt -s xpg_echo', 'echo "a\\tb"', 'shopt -u xpg_echo'],
  ['shopt -s nocasematch', '[[ ABC == abc ]]; echo "$?"', 'shopt -u nocasematch'],
  ['set -o pipefail', 'false | true', 'set +o pipefail'],
  ['set -C', 'echo x >lines.txt', 'echo forced >|other', 'set +C'],
  ['set -f', 'echo *', 'set +f'],
  ['set +B', 'echo {a,b}', 'set -B'],
  ['set -k', 'env printenv kk kk=1', 'set +k'],
  ['set -a', 'kk=exported; printenv kk', 'set +a; unset kk'],
  ['set -P', 'ln -sfn sub link; cd link; pwd -P | sed s,.*/,,; cd ..', 'set +P'],
  ['set -- 1 2 3', 'shift; echo "$@"', 'set --; echo "$#"'],
  [
    'shopt -s inherit_errexit localvar_inherit',
    'a=$(set -e; false; echo on); echo "[$a]"',
    'shopt -u inherit_errexit localvar_inherit',
  ],
  ['set -h; hash -r; ls >/dev/null; hash -t ls', 'hash | wc -l', 'hash -d ls'],
]
const jobs: readonly Scene[] = [
  ['sleep 0.03 & wait $!; echo "$?"'],
  ['(exit 7) & wait -n; echo "$?"', 'wait -n; echo "$?"'],
  ['(exit 2) & wait -n; echo "$?"; (exit 3) & wait -n; echo "$?"', 'wait'],
  ['sleep 30 &', 'jobs -p | wc -l', 'kill %%; wait %% 2>/dev/null; echo "$?"'],
  ['sleep 30 & pid1=$!', 'kill -9 "$pid1"; wait "$pid1" 2>/dev/null; echo "$?"'],
  ['sleep 30 & disown', 'jobs; kill $! 2>/dev/null; true'],
  ['{ sleep 0.02; echo from behind >bg; } &', 'wait; cat bg'],
  ['set -m', 'sleep 30 & kill %%; wait %% 2>/dev/null; echo "$?"', 'set +m'],
  ['(exit 4) & pid2=$!', 'wait "$pid2"; echo "$?"', 'wait "$pid2" 2>/dev/null; echo "$?"'],
  [
    'for i in 1 2 3; do (exit $i) & pids[i]=$!; done',
    'for i in 3 1 2; do wait "${pids[i]}"; echo "$?"; done; unset pids',
  ],
]
const reads: readonly Scene[] = [
  ['read -r x; echo "$?:<$x>"', 'cat', 'unset x'],
  ['read -r x <lines.txt; echo "$x"', '{ read -r x; read -r y; } <lines.txt; echo "$x $y"'],
  ['printf "a b\\n" | { read -r x y; echo "$y"; }; echo "${y-unset}"'],
  ['read -rn 2 x <<<abcdef; echo "$x"', 'read -rd , x <<<"p,q"; echo "$x"', 'read -t 0.01 x; echo "$?"'],
  ['select s in a b; do echo "$s"; break; done <<<2 2>/dev/null', 'unset s'],
  ['while getopts ab: o -a -b val; do echo "$o ${OPTARG-}"; done', 'echo "$OPTIND"; OPTIND=1; unset o'],
]
const subshells: readonly Scene[] = [
  ['(exit 5)', 'echo "$?"'],
  ['(a=inner; cd sub; set -f; trap "" USR1; alias q=w; exit 2); echo "$? ${a-}" *', 'pwd | sed s,.*/,,'],
  ['{ exit 3; } | cat', 'echo "${PIPESTATUS[@]}" "$?"'],
  ['(exit 1) | (exit 2) | (exit 3)', 'echo "${PIPESTATUS[*]}"'],
  ['! (exit 1)', 'echo "$?"', '! true | false; echo "${PIPESTATUS[@]}"'],
  [
    'echo "$BASH_SUBSHELL $(echo "$BASH_SUBSHELL") $$ $BASHPID" | sed "s/[0-9][0-9][0-9]*/N/g"',
    '(echo "$BASH_SUBSHELL")',
  ],
  [
    'if (exit 2); then :; else (exit 3); fi',
    'while (exit 1); do :; done; echo "$?"',
    'false; case x in y) ;; esac; echo "$?"',
  ],
]
const locked: readonly Scene[] = [
  ['readonly ro=1 2>/dev/null', 'ro=2; echo never', 'echo "$ro"', 'unset ro; echo "$?"'],
  ['declare -ra rl=(1 2) 2>/dev/null', 'rl+=(3); echo never', 'echo "${rl[@]}"'],
  ['lock() { local -r x=1; x=2; echo never; }; lock', 'lock || echo left'],
  ['readonly -f locked 2>/dev/null; locked() { echo new; }; readonly -f locked', 'locked() { echo other; }', 'locked'],
  ['ro=3 true; echo "$?"', 'for ro in 1 2; do echo "$ro"; done', 'export ro; printenv ro'],
]
const names: readonly Scene[] = [
  [
    "alias say='echo said'",
    'say it',
    'function say { echo function; }',
    '\\say it',
    'unalias say; say it',
    'unset -f say',
  ],
  ["alias two='echo 1; echo 2'; alias lead='echo '", 'two', 'lead two', 'alias two', 'unalias two lead'],
  ['function echo { builtin echo "[$*]"; }', 'echo shadowed', 'command echo plain', 'unset -f echo'],
  ['cd() { builtin cd "$@" && builtin echo moved; }', 'cd sub; cd ..', 'unset -f cd'],
  ['test() { builtin echo tested; }; test -f x', '[ -f lines.txt ] && builtin echo there', 'unset -f test'],
  ['exec() { builtin echo not; }', 'exec 3>nothing', 'unset -f exec'],
  ['exit() { builtin echo stay; }', 'exit 3', 'unset -f exit'],
  ['return() { builtin echo "$1"; }; rr() { return 4; }; rr', 'unset -f return', 'rr'],
  [
    'export -f doc 2>/dev/null; bash -c "doc x" 2>/dev/null',
    'hello() { echo "hello $*"; }; export -f hello; bash -c "hello you"',
    'export -nf hello',
  ],
  ['ls() { command ls -1 "$@"; }', 'ls', 'type -t ls', 'unset -f ls', 'type -t ls'],
  ['outer() { inner() { echo nested; }; }; outer; inner', 'unset -f inner outer', 'inner 2>/dev/null; echo "$?"'],
]
const memory: readonly Scene[] = [
  ['set -o posix', 'echo "$SHELLOPTS" | grep -c posix', 'set +o posix; shopt -s expand_aliases'],
  ['[[ key=value =~ (.*)=(.*) ]]', 'echo "${BASH_REMATCH[@]}"'],
  ['RANDOM=42', 'echo "$RANDOM $RANDOM"', 'echo "$RANDOM"'],
  ['true one two', 'echo "$_"', '/bin/true last', 'echo "$_"', 'x=1', 'echo "[$_]"; unset x'],
  ['cd sub; cd deep; cd - >/dev/null; echo "${OLDPWD##*/}"', 'cd ..', 'echo "${PWD##*/}"'],
  ['pushd sub >/dev/null; pushd deep >/dev/null; dirs | wc -w', 'popd >/dev/null; popd >/dev/null', 'dirs | wc -w'],
  ['CDPATH=sub', 'cd deep | sed s,.*/,,', 'unset CDPATH'],
  [
    '. ./lines.txt 2>/dev/null; echo "$?"',
    'echo \'echo sourced "$@"; v1=here; return 4\' >src',
    '. ./src p q',
    'echo "$v1 $#"; unset v1',
  ],
  ['eval "a=evaluated; echo \\$a"', 'eval false', 'eval \'echo "$?"\''],
  ['printf "\\377\\0\\n" | od -c | head -1', 'v=$(printf "\\377x"); printf %s "$v" | od -An -tx1', 'unset v'],
  ['umask 077; touch priv; stat -c %a priv', 'umask 022; umask -S'],
  ['let "a = 3 + 4"; ((a++)); echo "$a" $((a**2))', '((a == 0))', 'echo "$?"'],
  ['command -v ls; type cd; type -t if'],
  ['echo "${a:=default}" "${b:+set}" "${#a}" "${a%?}" "${a^}"'],
  ['{ time true; } 2>/dev/null; echo "$?"'],
  ['nosuchprogram; echo "$?"', './lines.txt; echo "$?"', './nothing x', '/', 'echo "$?"'],
  [
    'for ((i=0;i<3;i++)); do [ $i = 1 ] && continue; echo $i; done',
    'for i in a b c; do [ $i = b ] && break; done; echo "$i"; unset i',
  ],
  ['a=1 b=2 env printenv a b', 'echo "${a-}${b-}"', 'PATH=/nowhere ls; echo "$?"'],
  ['local x=1', 'break', 'continue; echo "$?"'],
  [
    'kill -0 $$ && echo here',
    'kill -USR9 $$; echo "$?"',
    'bash -c "kill -9 \\$\\$"; echo "$?"',
    "sh -c 'kill -TERM $$'",
    'echo "$?"',
  ],
  ['env | grep -c __cer', 'alias | grep -c cerith; trap -p | grep -c cerith'],
]

const lists: readonly Scene[] = [
  [
    'declare -A m2=([x]=1 [y]=2); declare -n mr=m2',
    'mr[z]=3; echo "${#m2[@]} ${m2[z]} ${!mr}"',
    'unset "mr[x]"; echo "${!m2[@]}" | tr " " "\\n" | sort',
    'unset -n mr; unset m2',
  ],
  [
    'fill() { local -n t=$1; local k; for k in "${@:2}"; do t[$k]=$((${t[$k]:-0}+1)); done; }',
    'declare -A seen; fill seen a b a',
    'echo "${seen[a]} ${seen[b]}"',
    'unset seen',
  ],
  [
    'mapfile -t -s 1 -n 1 arr <lines.txt; echo "${arr[@]}"',
    'mapfile -t -O 5 arr <<<"five"; echo "${!arr[@]}"',
    'cb() { echo "cb $1 $2"; }; mapfile -t -C cb -c 1 arr <lines.txt',
  ],
  [
    'printf -v "arr[3]" "%s-%d" x 7; declare -p arr',
    'printf -v t2 "%(%Y)T" 0; echo "$t2"',
    'printf -v 1bad x; echo "$?"',
  ],
  [
    'for w in a b; do read -r x y <<<"$w 1$w"; echo "$y$x"; done',
    'while read -r w; do cat <<<"[$w]"; done <<<"one"',
    'unset w y',
  ],
  ['local - 2>/dev/null; echo "$?"', 'lf() { local -; set -f; echo *; }; lf; echo lines*', 'echo "$-" | grep -c f'],
  [
    'declare -A m3; m3["a]b"]=1; m3[" "]=2; m3[\'$x\']=3',
    'for k in "${!m3[@]}"; do printf "<%s=%s>" "$k" "${m3[$k]}"; done | tr "<" "\\n" | sort',
    'unset m3',
  ],
  [
    'declare -i n1=5; n1+=3; echo "$n1"; declare -u up=abc; declare -l lo=ABC',
    'echo "$up $lo"; up=more; echo "$up"',
    'unset n1 up lo',
  ],
  ['set -- a "b c" ""; echo "${@@Q}" "${*@K}" "$#"', 'f2() { echo "$#:$*"; shift; echo "$1"; }; f2 "$@"', 'set --'],
]
const leaving: readonly Scene[] = [
  [
    'se() { set -e; false; echo never; }; se || echo "kept $?"; set +e',
    'se2() ( set -e; false; echo never ); se2; echo "$?"',
  ],
  [
    '(set -e; false; echo never); echo "$?"',
    '(set -e; if false; then :; fi; echo reached)',
    'a=$(set -e; false; echo on); echo "[$a]"',
  ],
  [
    '(set -eo pipefail; false | true; echo never); echo "$?"',
    '(set -u; echo "$not_set_at_all"; echo never); echo "$?"',
  ],
  [
    '(trap "echo err" ERR; set -E; g3() { false; }; g3; exit 4); echo "$?"',
    '(trap "echo x" EXIT; kill -TERM $BASHPID; sleep 5); echo "$?"',
  ],
  ['re() { return 7; echo never; }; re', 'echo "$?"', 're && echo no || echo "or $?"', '! re; echo "$?"'],
  [
    '(exec true); echo "$?"; (exec no-such-program 2>/dev/null); echo "$?"',
    '(exit 300); echo "$?"',
    '(exit -1); echo "$?"',
  ],
  [
    'kill -CONT $$; echo alive',
    'kill -WINCH $$; echo alive',
    '(kill -SEGV $BASHPID) 2>/dev/null; echo "$?"',
    'bash -c "kill -PIPE \\$\\$"; echo "$?"',
  ],
  ['deep() { (($1 == 0)) && return 3; deep $(($1 - 1)); }; deep 50', 'echo "$?"'],
  [
    'until false; do break; done; echo "$?"',
    'for i in 1 2; do for j in 1 2; do continue 2; done; echo never; done; echo "$i$j"',
    'unset i j',
  ],
  [
    '${undefined_cmd-} ; echo "$?"',
    '$(exit 3); echo "$?"',
    'x=$(exit 4) y=1; echo "$?"; unset x y',
    'echo "$(exit 5)"; echo "$?"',
  ],
]
const watching: readonly Scene[] = [
  [
    'shopt -s extdebug; trap \'echo "D:$BASH_COMMAND"\' DEBUG',
    '(exit 4)',
    'echo "$?"; z9=1',
    'trap - DEBUG; shopt -u extdebug',
    'echo "$z9"; unset z9',
  ],
  [
    "shopt -s extdebug; trap '[[ $BASH_COMMAND != skipme* ]]' DEBUG",
    'skipme now; echo "ran $?"',
    'trap - DEBUG; shopt -u extdebug',
  ],
  [
    'set -T; trap \'echo "R:${FUNCNAME-}"\' RETURN',
    'rf() { echo in; return 2; }; rf',
    'echo "$?"',
    'trap - RETURN; set +T',
  ],
  ['trap \'echo E "$?"\' ERR', 'ef() { return 5; }; ef', '(exit 6); true', 'false | true; true | false', 'trap - ERR'],
  ["trap 'last=$BASH_COMMAND' DEBUG", 'true a b; echo "$last"', 'trap - DEBUG; unset last'],
  ["tr1() { trap 'echo from function' USR1; }; tr1", 'kill -USR1 $$', 'trap - USR1'],
  ['trap \'echo "d:$BASH_COMMAND"; false\' DEBUG', 'true; echo "$?"', 'trap - DEBUG'],
]
const moving: readonly Scene[] = [
  ['exec {one}>f1 {two}>f2', 'echo 1 >&"$one"; echo 2 >&"$two"', 'exec {one}>&- {two}>&-; cat f1 f2', 'unset one two'],
  [
    'exec {rd}<lines.txt',
    'read -r -u "$rd" x; echo "$x"',
    'while read -r -u "$rd" x; do echo "r $x"; done',
    'exec {rd}<&-; unset rd x',
  ],
  ['{ echo in >&"$g5"; } {g5}>f5; cat f5', '{ echo b >&"$g5"; } 2>/dev/null; [[ ! ${g5-} ]] || exec {g5}>&-; unset g5'],
  [
    'read -t 0 <lines.txt; echo "$?"',
    'read -t 0.02 x < <(sleep 0.3); echo "$((${?} > 128))"',
    'read -t 1 x <<<quick; echo "$x"',
    'read -N 3 x <<<abcdef; echo "$x"; unset x',
  ],
  [
    'shopt -s lastpipe',
    'printf "1\\n2\\n" | while read -r n; do s=$((${s:-0}+n)); done; echo "$s"',
    'seq 3 | mapfile -t arr; echo "${#arr[@]}"',
    'shopt -u lastpipe; unset s n',
  ],
  [
    '{ (exit 3) & p1=$!; (exit 4) & p2=$!; wait $p1; echo $?; wait $p2; echo $?; }',
    'unset p1 p2',
    'wait 99999999 2>/dev/null; echo "$?"',
  ],
  ['(sleep 0.02; exit 6) & (sleep 0.06; exit 7) & wait -n; echo "$?"', 'wait -n; echo "$?"; wait -n; echo "$?"'],
  [
    'sleep 0.05 & wait -f $!; echo "$?"',
    'sleep 30 & kill -STOP $!; kill -CONT $!; kill $!; wait $! 2>/dev/null; echo "$?"',
  ],
  [
    'coproc { cat; }; echo co >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo "$x"',
    '[[ -z ${COPROC[1]-} ]] || eval "exec ${COPROC[1]}>&-"; wait; echo "${COPROC_PID-none}"; unset x',
  ],
  ['exec 3>&1 4>&2', 'echo to3 >&3; echo to4 >&4', '{ echo swapped; } 1>&4 2>&3', 'exec 3>&- 4>&-'],
  ['exec 6>&1 1>f6 7>&2 2>&1', 'echo hid; ls nowhere-at-all', 'exec 1>&6 2>&7 6>&- 7>&-', 'wc -l <f6'],
  ['exec 1>f7; echo lost; exec 1>&2', 'echo on-stderr', 'cat f7'],
]
const bytes: readonly Scene[] = [
  ['u=日本語; echo "${#u} ${u:1:1} ${u^^}"', 'declare -p u', 'printf "%s|%5s|\\n" "$u" é', 'unset u'],
  [
    'b1=$\'\\xff\\xfe\\x00tail\'; printf %s "$b1" | od -An -tx1',
    'f_é() { echo accent; }; f_é',
    'printf %s "$b1" | wc -c',
    'unset b1; unset -f f_é',
  ],
  ["declare -A mb=([$'\\xffk']=v [é]=w)", 'echo "${mb[é]} ${#mb[@]}"', 'unset mb'],
  ["touch $'odd\\xffname' 'a b' '-dash'", 'ls | od -c | head -3', "rm -f -- $'odd\\xffname' 'a b' -dash"],
  ['long=$(printf "%05000d" 7); echo "${#long}"', 'echo "${long: -3}"; unset long'],
  ['echo ' + 'x'.repeat(9000) + ' | wc -c', ': ' + 'y '.repeat(3000) + '; echo "$?"'],
  ['lw=' + 'z'.repeat(70000), 'echo "${#lw}"; echo "$lw" | wc -c; unset lw'],
  [
    'al2=$\'tab\\there\'; echo "$al2"',
    "printf '%b' 'a\\0101\\n'",
    "echo -e '\\u00e9\\x41'",
    "printf '\\r\\b\\a' | od -An -c",
    'unset al2',
  ],
  [
    'echo ✓ 💥 "e\u0301" | wc -c',
    "LC_ALL=C eval 'x=é; echo ${#x}'; unset x",
    'LC_ALL=C printf "%.1s\\n" é | od -An -tx1',
  ],
]

export const scenes: fc.Arbitrary<Scene> = fc.constantFrom(...[arrays, references, coprocesses, documents, substitutions, traps, execs, options, jobs, reads, subshells, locked, names, memory, lists, leaving, watching, moving, bytes].flat()) // prettier-ignore

/**
 * Scenes that hold nothing that only a process has: jobs, descriptors, the end of the shell in between is no loss to
 * them.
 */
export const lastingScenes: fc.Arbitrary<Scene> = fc.constantFrom(...[arrays, references, documents, options, subshells, locked, names, lists, bytes].flat()) // prettier-ignore
