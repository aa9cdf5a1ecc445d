/** What a branch changes that deserves a look before anything of it is used. Counts only: names are the writer's own. */
import type { ChangeFlags } from '../../ports/writers/git.ts';

export interface ChangeReport {
  readonly files: number;
  readonly flags: ChangeFlags;
}

/** Files that tools run or obey without being asked: by name, anywhere in the tree, in lower case. */
const TOOL_FILES = new Set(
  `.envrc .env .gitattributes .gitmodules .gitconfig .lfsconfig .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .mcp.json
  .pre-commit-config.yaml .tool-versions .mise.toml mise.toml .bazelrc .pythonrc .rvmrc .editorconfig
  package.json package-lock.json pnpm-workspace.yaml lerna.json makefile gnumakefile justfile taskfile.yml rakefile gemfile
  cmakelists.txt meson.build build.rs cargo.toml build.gradle build.gradle.kts settings.gradle gradlew pom.xml mvnw
  setup.py setup.cfg pyproject.toml conftest.py sitecustomize.py noxfile.py tox.ini flake.nix shell.nix default.nix
  dockerfile containerfile docker-compose.yml compose.yml compose.yaml vagrantfile procfile jenkinsfile .gitlab-ci.yml
  .travis.yml go.work agents.md claude.md`.split(/\s+/),
);
/** Directories whose whole content counts. */
const TOOL_FOLDERS = new Set(
  `.git .github .gitlab .circleci .husky .githooks githooks hooks .vscode .idea .devcontainer .direnv .cargo .pi .claude
  .codex .cursor .yarn .bundle .config node_modules`.split(/\s+/),
);
const TOOL_PATTERN = /(^|[._-])(config|rc|workspace)\.(c|m)?[jt]s$|\.(code-workspace|sln|csproj|targets|props)$/;
/** Control characters, and those that reorder or hide what a reader sees. */
const ODD = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\ufffd]/u;

const [LINK, GITLINK, EXECUTABLE] = ['120000', '160000', '100755'];

/** `git diff-tree -r -z --raw --no-renames`. Undefined: it says something else. */
export function reportChanges(raw: Uint8Array): ChangeReport | undefined {
  const parts = Buffer.from(raw).toString('utf8').split('\0');
  if (parts.pop() !== '' || parts.length % 2 !== 0) return undefined;
  const flags = { symlink: 0, gitlink: 0, executable: 0, toolFile: 0, oddName: 0 };
  for (let at = 0; at < parts.length; at += 2) {
    const [, before, after] = /^:(\d{6}) (\d{6}) [0-9a-f]+ [0-9a-f]+ [A-Z]\d*$/.exec(parts[at] ?? '') ?? [];
    const path = parts[at + 1] ?? '';
    if (after === undefined || path === '') return undefined;
    if (after === LINK) flags.symlink += 1;
    if (after === GITLINK || before === GITLINK) flags.gitlink += 1;
    if (after === EXECUTABLE && before !== EXECUTABLE) flags.executable += 1;
    if (isToolFile(path)) flags.toolFile += 1;
    if (ODD.test(path)) flags.oddName += 1;
  }
  return { files: parts.length / 2, flags };
}

function isToolFile(path: string): boolean {
  // As a file system that ignores case and normal form would see it.
  const names = path.normalize('NFKC').toLowerCase().split('/');
  const name = names.pop() ?? '';
  return TOOL_FILES.has(name) || TOOL_PATTERN.test(name) || names.some((folder) => TOOL_FOLDERS.has(folder));
}
