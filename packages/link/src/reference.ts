/** docs/link.md, from the table of frames. */

import {
  LINK_REFUSAL,
  LINK_VERSION,
  MAX_EDGE_FRAME_BYTES,
  MAX_FRAME_BYTES,
  NOTES,
  NOTICES,
  REFUSAL_TYPE,
  REQUESTS,
} from "./frames.js";

const INTRODUCTION = `# The link between edges and cores

This page is generated from the table of frames in \`packages/link/src/frames.ts\`; \`npm run docs -- link\`
writes it again. The link is internal: both sides are of one release, and no client speaks it.

An edge sends requests, and the core answers or refuses each once, in any order. Either side sends
notices. An edge has at most \`window\` requests in flight, which the core says in \`welcome\`. One that has
over 64 MiB of them is not read until the core has answered some. What is wrong with a frame ends the link
with a \`bye\` that names frame and field. An unknown type or another version
ends it with a message that names both. Values are in the order of the table, without names.

\`\`\`
u32 length │ u16 type │ u32 epoch │ count position │ request, answer, refusal: u32 id │ request: flag again, terms │ answer, refusal: notes │ fields
\`\`\`

Integers are little endian. \`count\` is a whole number from 0 to 2^53 − 1 in groups of seven bits, the lowest
first. \`number\` and \`whole number\` are doubles. \`text\` is UTF-8 after the count of its bytes. \`flag\` is one
byte, and a word of a list is the count of its index. Of an object of the contract a bit for each property that
may be missing comes first. A core's frame has at most ${MAX_FRAME_BYTES} bytes, an edge's ${MAX_EDGE_FRAME_BYTES}. Every frame
has the epoch and the position of its sender: an edge ignores older epochs, and shows clients no position
below the last.

A request that was sent before, to this core or another, and has no answer, says so (\`again\`); it is
otherwise the same to the byte. The requests marked with * change the venue and nobody signs them. Their
terms are an id of 16 bytes and, as count, the last moment by the venue's time at which they may be executed.
The engine executes an id once. Of others there are no terms.
`;

const STREAMS = `## Streams, and an edge that does not read

An edge follows a public stream while sockets of it read the stream, and ten seconds longer. The core
reads each followed stream once for all edges and sends each change once to each of them. It does so in
rounds: at most one per 10 ms, and at most an eighth of its thread's time. The edge keeps the state, so further
readers cost the core nothing. The sum of a book is over its published levels; an edge whose copy has
another sum ends its link.

A reader of a private stream begins with \`readStream\`, page by page if it resumes. It is live once it has
the last page: frames arrive in order, so updates after \`seq\` follow. All edges share 256 rows of the
history in a turn of the core's event loop, one read of each in turn. A page has 64, and 256 more that it
refers to. An edge asks for no page that the socket has no room for.

The core counts the edges that have sockets of a session. A link that ends takes all sessions of its edge
with it; they count as disconnected there, once more after the edge's requests in flight have settled.

| waits for an edge | what the core does |
|---|---|
| up to 1 MiB | sends everything |
| more | leaves out books, tickers, candles, status and \`asOf\`; once there is room, the edge gets the whole state instead |
| more than 128 MiB | ends the link: nothing else may be left out |
`;

const TRANSPORTS = `## Transports

On one machine frames cross a Unix socket in the data folder, between machines TCP with TLS 1.3
([decision](adr/0240-links-between-machines.md)). Both sides of a TLS connection have a certificate of the
authority that the venue has for its links. Handshakes are bounded: 5 s, 16 of an address and 64 in all at
a time. The rest is the same. A side that is silent, or reads nothing, for 2 s has lost its link.
`;

export function linkReference(): string {
  const notices = Object.entries(NOTICES).map(
    ([name, { type, from, summary, body }]) =>
      `| ${type} | \`${name}\` | ${from} | ${summary} | ${body.words || "–"} |`,
  );
  const requests = Object.entries(REQUESTS).map(
    ([name, { type, summary, body, answer, isUnsigned }]) =>
      `| ${type} | \`${name}\`${isUnsigned ? " *" : ""} | ${summary} | ${body.words || "–"} | ${answer.words || "–"} |`,
  );
  return [
    INTRODUCTION,
    `## Version ${LINK_VERSION}`,
    "",
    "### Notices",
    "",
    "| type | frame | from | | fields |",
    "|---|---|---|---|---|",
    ...notices,
    "",
    "### Requests",
    "",
    "The answer has the type of its request plus one.",
    "",
    "| type | frame | | fields | answer |",
    "|---|---|---|---|---|",
    ...requests,
    "",
    "### Answers and refusals",
    "",
    `Notes: ${NOTES.words}.`,
    "",
    `Refusal (type ${REFUSAL_TYPE}): ${LINK_REFUSAL.words}.`,
    "",
    STREAMS,
    TRANSPORTS,
  ].join("\n");
}
