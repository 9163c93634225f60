/**
 * How the page is built: from the sources of the packages it uses, into files that name no host.
 *
 * The gateway's policy allows neither inline scripts nor `eval`. So nothing is inlined, and the
 * MessagePack decoder is the build of it that never makes code from text.
 */

import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";

/** A gateway to develop against: `npx vite apps/terminal` beside `npm start`. */
const GATEWAY = "http://127.0.0.1:8080";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: {
    conditions: ["perpgate-source", ...defaultClientConditions],
    alias: [{ find: /^msgpackr$/, replacement: "msgpackr/index-no-eval" }],
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
