/** Every link between the pages, and from them into the repository, has a target. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const LINK = /\]\(([^)\s]+)\)/g;

function pages() {
  return [".", "docs", "docs/adr", "docs/lab", "python"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  );
}

/** As GitHub makes the name of a heading. */
function anchors(page) {
  const headings = page.matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

function withoutCode(page) {
  return page.replaceAll(/```[\s\S]*?```/g, "").replaceAll(/`[^`\n]*`/g, "");
}

it("docs: links between pages have a target", () => {
  const broken = [];
  expect(pages().length).toBeGreaterThan(10);
  for (const path of pages()) {
    const page = readFileSync(join(root, path), "utf8");
    for (const [, link = ""] of withoutCode(page).matchAll(LINK)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? join(root, path) : resolve(root, dirname(path), file);
      const isThere = existsSync(target);
      const isNamed =
        anchor === undefined || (isThere && anchors(readFileSync(target, "utf8")).includes(anchor));
      if (!isThere || !isNamed) broken.push(`${path}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
});

/** `protocol/src/operations` and the like: folders of the packages and applications. */
function sourceFolders() {
  return ["packages", "apps"].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((name) =>
      readdirSync(join(root, group, name, "src"), { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && entry.name !== "testing")
        // Git keeps no empty folders, but a move may leave one behind.
        .filter((entry) => readdirSync(join(entry.parentPath, entry.name)).length > 0)
        .map((entry) => `${name}/src/${entry.name}`),
    ),
  );
}

it("docs/architecture.md: names every source folder, and none that is gone", () => {
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const named = new Set([...page.matchAll(/`([a-z]+\/src\/[a-z-]+)`/g)].map(([, path]) => path));
  named.delete("engine/src/testing");
  expect([...named].sort()).toEqual(expect.arrayContaining(sourceFolders()));
  const gone = [...named].filter(
    (path) => !["packages", "apps"].some((group) => existsSync(join(root, group, path))),
  );
  expect(gone).toEqual([]);
});

it("docs/adr: each record has a status, and one that is superseded names by what", () => {
  const records = readdirSync(join(root, "docs/adr")).filter((name) => name.endsWith(".md"));
  const without = records.filter((name) => {
    const page = readFileSync(join(root, "docs/adr", name), "utf8");
    const [status = ""] = /^(?:Date: .* )?Status: .*$/m.exec(page) ?? [];
    const isSuperseded = status.includes("superseded");
    return isSuperseded ? !/superseded by \[\d+\]/.test(status) : !status.includes("accepted");
  });
  expect(without).toEqual([]);
});
