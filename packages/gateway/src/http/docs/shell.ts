/** The frame of the documentation's pages: navigation and style. */

import { getAsyncApi, getOpenApi } from "@perpgate/protocol/operations";

export const STYLE_PATH = "/docs/style.css";

/** Everything comes from this process, and nothing runs. Only the REST reference has another one. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface NavLink {
  readonly href: string;
  readonly text: string;
}

const NAV_LINKS: readonly NavLink[] = [
  { href: "/docs/guides", text: "Guides" },
  { href: "/docs", text: "REST" },
  { href: "/docs/streams", text: "Streams" },
  { href: getOpenApi.path, text: "OpenAPI" },
  { href: getAsyncApi.path, text: "AsyncAPI" },
];

export function docsPage(title: string, body: string, styles = [STYLE_PATH]): string {
  const sheets = styles.map((path) => `<link rel="stylesheet" href="${path}">`).join("\n");
  const links = NAV_LINKS.map(({ href, text }) => `<a href="${href}">${text}</a>`).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Perpgate</title>
<link rel="icon" href="data:,">
${sheets}
</head>
<body>
<header><nav aria-label="Documentation"><strong>Perpgate</strong>
${links}
</nav></header>
<main>
${body}
</main>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

export const NAV_STYLE = `
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; }
header { background: #14181f; color: #e8eaed; }
nav { display: flex; flex-wrap: wrap; gap: 1.25rem; padding: 0.75rem 1.25rem; }
nav a { color: #9ecbff; }
`;

export const STYLE = `${NAV_STYLE}
:root { color-scheme: light dark; --line: #8884; --tint: #8881; --link: light-dark(#0550ae, #9ecbff); }
main { max-width: 54rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
a { color: var(--link); }
h1, h2, h3 { line-height: 1.25; margin-top: 2rem; }
code, pre { font: 0.875em/1.45 ui-monospace, monospace; }
code { background: var(--tint); padding: 0.1em 0.3em; border-radius: 3px; }
pre { background: var(--tint); padding: 0.75rem 1rem; overflow-x: auto; border-radius: 6px; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: 0.35rem 0.6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
`;
