import { refuseUnready } from "@perpgate/link";
import {
  getAsyncApi,
  getHealth,
  getOpenApi,
  getReadiness,
  getStatus,
} from "@perpgate/protocol/operations";
import { handle, handleByLink, JsonText } from "./handler.js";

export const SERVICE_HANDLERS = [
  handleByLink(getStatus, async (_, link, { version, region }) => {
    const askedAtMs = performance.now();
    const { status } = await link.request("getStatus", {});
    const linkMs = Math.round(1_000 * (performance.now() - askedAtMs)) / 1_000;
    const { epoch } = link;
    return {
      release: version,
      ...(region === undefined ? {} : { region }),
      epoch,
      linkMs,
      ...status,
    };
  }),
  handle(getOpenApi, (_, { openApi }) => new JsonText(openApi)),
  handle(getAsyncApi, (_, { asyncApi }) => new JsonText(asyncApi)),
  handle(getHealth, (_, { version }) => ({ status: "ok" as const, version })),
  handle(getReadiness, async (_, { readiness, edge }) => {
    refuseUnready(readiness);
    const { conflict } = (await edge?.link.request("getReadiness", {})) ?? {};
    return { status: "ready" as const, ...(conflict === undefined ? {} : { conflict }) };
  }),
];
