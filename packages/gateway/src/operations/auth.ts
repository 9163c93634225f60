import type { SessionInfo } from "@perpgate/protocol";
import {
  endOtherSessions,
  endSession,
  endSessionById,
  getAccount,
  getNonce,
  getSessions,
  rotateSession,
  signIn,
} from "@perpgate/protocol/operations";
import { millisecondsOf } from "../auth/rfc3339.js";
import type { Changing } from "../auth/session-changes.js";
import { isFaulty, siweLinesOf } from "../auth/siwe-lines.js";
import type { GatewayContext } from "../http/context.js";
import { chargeBoth } from "../limits/charge-operation.js";
import { checksummed } from "./address-checksums.js";
import {
  type Asking,
  type Call,
  edgeOf,
  handle,
  handleByLink,
  handleForAccount,
} from "./handler.js";

export const AUTH_HANDLERS = [
  handle(getNonce, (_, { nonces, clock }) => nonces.issue(clock())),
  handleByLink(signIn, ({ body, client }, _, context) => {
    const { signIns } = edgeOf(context, signIn.id);
    return context.addressLimits.signIn(client.address, client.header, () =>
      signIns.signIn(client, body, context.clock()),
    );
  }),
  handleForAccount(rotateSession, (call, asking, context) => {
    const { body, bodyBytes: bytes, signature } = call;
    const token = call.token().text;
    const request = { body, bytes, signature };
    return asking.edge.changes.rotate(changing(call, asking, context), token, request);
  }),
  handleForAccount(endSession, async (_, { link, session }) => {
    return (await link.request("endSession", { session })).result;
  }),
  handleForAccount(getAccount, async ({ params, query }, { link, session, onNotes }) => {
    const { result } = await link.request("getAccount", { session, params, query }, onNotes);
    return { ...result, address: checksummed(result.address) };
  }),
  handleForAccount(getSessions, async (_, { link, session, onNotes }) => {
    const { sessions } = await link.request("getSessions", { session }, onNotes);
    return sessions.map(({ info, message }) => ({ ...info, ...originOf(message) }));
  }),
  handleForAccount(endSessionById, (call, asking, context) => {
    const { params, signature } = call;
    return asking.edge.changes.end(changing(call, asking, context), params.id, signature);
  }),
  handleForAccount(endOtherSessions, (call, asking, context) =>
    asking.edge.changes.endOthers(changing(call, asking, context), call.signature),
  ),
];

function changing(
  { client }: Pick<Call<typeof endSessionById>, "client">,
  { known, onNotes }: Asking,
  { budgets }: GatewayContext,
): Changing {
  return {
    session: known,
    header: client.header,
    onNotes,
    charge: (micros) => chargeBoth(budgets, client, micros),
  };
}

/** Where the message was signed, and when by the wallet's clock. */
function originOf(message: string): Pick<SessionInfo, "domain" | "issuedAt"> {
  const lines = siweLinesOf(message);
  // Earlier releases took longer messages.
  if (isFaulty(lines)) return { domain: "", issuedAt: null };
  const issuedAt = millisecondsOf(lines.values.get("Issued At") ?? "") ?? null;
  return { domain: lines.domain, issuedAt };
}
