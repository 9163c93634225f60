/**
 * The guides: the Markdown files of the documentation as pages.
 *
 * The list of files is read at start; each file is read and rendered when its page is first requested,
 * and kept. No part of a request becomes a path on disk.
 */

import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { docsPage, escapeHtml } from "./shell.js";

const PREFIX = "/docs/guides";
const NAME = /^[a-z0-9-]+\.md$/;
/** First in the list, in the order in which a newcomer reads; the others follow by name. */
const READING_ORDER = ["quick-start", "concepts", "orders", "api", "streams", "errors"];

interface Guide {
  /** Without the extension: `streams`, `adr/0043-orders-and-readers`. */
  readonly name: string;
  readonly url: string;
  readonly html: () => Promise<string>;
}

/** The guides of a folder and of its `adr` folder. */
export async function guidesIn(folder: string): Promise<readonly Guide[]> {
  const names = [...(await namesIn(folder, "")), ...(await namesIn(folder, "adr/"))];
  const known = new Set(names);
  return names.map((name) => {
    let html: Promise<string> | undefined;
    return {
      name,
      url: `${PREFIX}/${name}`,
      html: () => {
        html ??= renderGuide(join(folder, `${name}.md`), name, known);
        return html;
      },
    };
  });
}

async function namesIn(folder: string, below: string): Promise<string[]> {
  const files = await readdir(join(folder, below)).catch(() => []);
  const names = files.filter((file) => NAME.test(file)).map((file) => file.slice(0, -3));
  const rank = (name: string) =>
    (READING_ORDER.indexOf(name) + 1 || 100).toString().padStart(3, "0");
  names.sort((a, b) => (rank(a) + a < rank(b) + b ? -1 : 1));
  return names.map((name) => below + name);
}

export function guideList(guides: readonly Guide[]): string {
  const item = ({ name, url }: Guide) => `<li><a href="${url}">${titleFrom(name)}</a></li>`;
  const decisions = guides.filter(({ name }) => name.startsWith("adr/"));
  const others = guides.filter(({ name }) => !name.startsWith("adr/"));
  const list = (entries: readonly Guide[]) => `<ul>\n${entries.map(item).join("\n")}\n</ul>`;
  return docsPage(
    "Guides",
    `<h1>Guides</h1>\n${list(others)}\n<h2>Decisions</h2>\n${list(decisions)}`,
  );
}

function titleFrom(name: string): string {
  const words = name.replace(/^adr\//, "").replaceAll("-", " ");
  return escapeHtml(words.charAt(0).toUpperCase() + words.slice(1));
}

async function renderGuide(
  path: string,
  name: string,
  known: ReadonlySet<string>,
): Promise<string> {
  const text = await readFile(path, "utf8");
  // Loaded with the first page: a start does not need it.
  const { Marked } = await import("marked");
  const slugs = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const inner = this.parser.parseInline(tokens);
        return `<h${depth} id="${slugOf(heading, slugs)}">${inner}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(href, name, known);
        return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
    },
  });
  const [, title = titleFrom(name)] = /^# (.+)$/m.exec(text) ?? [];
  return docsPage(title, await marked.parse(text));
}

/** The ids that GitHub gives to headings, so that links within and between files lead there. */
function slugOf(heading: string, seen: Map<string, number>): string {
  const plain = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "");
  const slug = plain.trim().replaceAll(/\s/g, "-");
  const count = seen.get(slug) ?? 0;
  seen.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

/** Where a link of a guide leads here; undefined for a file that is not served. */
function targetOf(href: string, from: string, known: ReadonlySet<string>): string | undefined {
  if (/^https?:|^#/.test(href)) return href;
  const [path = "", fragment] = href.split("#");
  const name = posix.join(posix.dirname(from), path).replace(/\.md$/, "");
  if (!path.endsWith(".md") || !known.has(name)) return undefined;
  return fragment === undefined ? `${PREFIX}/${name}` : `${PREFIX}/${name}#${fragment}`;
}
