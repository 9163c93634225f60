/**
 * Builds the page from the sources of its packages, without absolute URLs.
 *
 * The gateway's content security policy forbids inline scripts and `eval`: nothing is inlined, and
 * the MessagePack decoder is its build without `eval` and without the encoder.
 */

import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";

/** A gateway for development: `npx vite apps/terminal` together with `npm start`. */
const GATEWAY = "http://127.0.0.1:8080";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
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
