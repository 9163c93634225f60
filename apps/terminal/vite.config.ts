/**
 * Builds the page from the sources of its packages, without absolute URLs.
 *
 * The gateway's content security policy forbids inline scripts and `eval`: nothing is inlined, and
 * the MessagePack decoder is its build without `eval` and without the encoder.
 */

import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig, type Plugin, parseSync, Visitor } from "vite";

/** A gateway for development: `npx vite apps/terminal` together with `npm start`. */
const GATEWAY = "http://127.0.0.1:8080";

const PROTOCOL = /packages\/protocol\/src\/.*\.ts$/;
const ERROR_TABLE = /\/errors\/error-table\.ts$/;

/**
 * Leaves out what no code of the page reads: the descriptions of schemas, which are for the reference of the
 * interface, and the messages of errors, which the venue sends. They are 6 KB, compressed.
 */
function withoutReference(): Plugin {
  return {
    name: "without-reference",
    enforce: "pre",
    transform(code, id) {
      if (!PROTOCOL.test(id)) return;
      const texts: { readonly start: number; readonly end: number }[] = [];
      new Visitor({
        Property: ({ key, value }) => {
          const isText = /^(Literal|TemplateLiteral|BinaryExpression)$/.test(value.type);
          if (isText && "name" in key && key.name === "description") texts.push(value);
        },
        CallExpression: ({ arguments: given }) => {
          const [first] = given;
          const isMessage = first?.type === "Literal" && typeof first.value === "string";
          if (ERROR_TABLE.test(id) && isMessage) texts.push(first);
        },
      }).visit(parseSync(id, code).program);
      return texts
        .toSorted((a, b) => b.start - a.start)
        .reduce((rest, { start, end }) => `${rest.slice(0, start)}""${rest.slice(end)}`, code);
    },
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        const modules = chunk.type === "chunk" ? Object.entries(chunk.modules) : [];
        for (const [id, { renderedExports }] of modules) {
          if (/\/errors\/error\.ts$/.test(id) && renderedExports.includes("ApiError"))
            this.error("the page makes errors whose messages its build leaves out");
        }
      }
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [withoutReference(), react()],
  resolve: {
    conditions: ["perpgate-source", ...defaultClientConditions],
    alias: [{ find: /^msgpackr$/, replacement: "msgpackr/unpack-no-eval" }],
  },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    chunkSizeWarningLimit: 1_000,
  },
  server: {
    proxy: { "/v1": GATEWAY, "/docs": GATEWAY, "/ws": { target: GATEWAY, ws: true } },
  },
});
