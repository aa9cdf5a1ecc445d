/** What is too much for one command, as shell for inside the boundary. Arguments come as `$1`…, never in the text. */

/**
 * $1: baseline, $2: where exports lie, $3: name of this one, empty for none. Works on an index of its
 * own, so that flags in the real one hide nothing; what is only staged becomes a
 * parent. Says `clean`, or `whole` or `partial` and the commit.
 */
export const WIP = `set -eu
base=$1 ref=$2$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
[ -z "$3" ] || git for-each-ref --format='delete %(refname)' "$2" | git update-ref --no-deref --stdin
head=$(git rev-parse --quiet --verify 'HEAD^{commit}') || head=$base
headtree=$(git rev-parse "$head^{tree}")
index=$(git rev-parse --git-path index)
staged=
if [ -f "$index" ]; then
  cp "$index" "$tmp/staged"
  staged=$(GIT_INDEX_FILE=$tmp/staged git write-tree 2>/dev/null) || staged=
fi
GIT_INDEX_FILE=$tmp/index
export GIT_INDEX_FILE
git read-tree "$head"
word=whole
git add --all --ignore-errors . 2>/dev/null || word=partial
tree=$(git write-tree)
[ "$staged" != "$headtree" ] && [ "$staged" != "$tree" ] || staged=
loose=$(git rev-list --max-count=1 "$head" --not "$base" --branches)
if [ "$word$tree$staged$loose" = "whole$headtree" ]; then
  echo clean
  exit 0
fi
# The same work is the same commit, however often it is collected.
GIT_AUTHOR_DATE=$(git log -1 --format=%cd --date=raw "$head")
GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
if [ -n "$staged" ]; then
  staged=$(git commit-tree -p "$head" -m 'Staged work' "$staged")
  commit=$(git commit-tree -p "$head" -p "$staged" -m 'Work in progress' "$tree")
else
  commit=$(git commit-tree -p "$head" -m 'Work in progress' "$tree")
fi
[ -z "$3" ] || git update-ref "$ref" "$commit"
echo "$word $commit"
`;

/**
 * $1: baseline, $2: branch. Whatever state the writer left, this may be repeated.
 * The pinned files refuse to go, which is why failures to delete do not count.
 */
export const DETACHED_RESET = `set -eu
git cat-file -e "$1^{commit}"
dir=$(git rev-parse --absolute-git-dir)
cd "$dir"
for entry in * .[!.]*; do
  case $entry in
  objects | config | commondir | hooks | HEAD) ;;
  *) chmod -R u+rwX -- "$entry" 2>/dev/null || :; rm -rf -- "$entry" ;;
  esac
done
rm -rf objects/info/alternates
mkdir -p refs/heads refs/tags
rm -f HEAD
printf 'ref: refs/heads/%s\\n' "$2" >HEAD
cd - >/dev/null
git update-ref "refs/heads/$2" "$1"
git reset --hard --quiet
git clean -ffdq
`;
