/** The caller's account: balances, cohort and the session of the request. */

import { type Static, Type } from "typebox";
import { Address, Dollars, LogPosition, MarketSymbol, Nullable, TimeMs } from "../text/scalar.js";

const SessionScope = Type.Object({
  maxOrderNotional: Nullable(Dollars),
  maxNotional: Nullable(Dollars),
  symbols: Nullable(Type.Array(MarketSymbol)),
});

export const SessionKeyKind = Type.Enum(["ed25519", "secp256k1"]);
export type SessionKeyKind = Static<typeof SessionKeyKind>;

export const OpenedSession = Type.Object(
  {
    sessionKey: Type.String(),
    kind: SessionKeyKind,
    expiresAt: TimeMs,
    scope: SessionScope,
    cancelOnDisconnect: Type.Boolean({
      description: "Whether the session's open orders go with its last socket.",
    }),
  },
  { title: "Session" },
);
export type OpenedSession = Static<typeof OpenedSession>;

export const SessionInfo = Type.Object(
  {
    id: { ...LogPosition, description: "The log position of the sign-in." },
    sessionKey: Type.String(),
    kind: SessionKeyKind,
    domain: Type.String({ description: "The domain of the sign-in message." }),
    issuedAt: Nullable(TimeMs),
    expiresAt: TimeMs,
    scope: SessionScope,
    cancelOnDisconnect: Type.Boolean(),
    current: Type.Boolean({ description: "Whether the request was made with this session." }),
  },
  { title: "SessionInfo" },
);
export type SessionInfo = Static<typeof SessionInfo>;
export const Sessions = Type.Array(SessionInfo);
export const SessionIdPath = Type.Object({ id: LogPosition });

export const Account = Type.Object(
  {
    address: Address,
    balance: Dollars,
    available: Dollars,
    reserved: Dollars,
    positionMargin: Dollars,
    equity: Dollars,
    cohort: Type.Boolean({ description: "Whether this account may open positions now." }),
    session: OpenedSession,
  },
  { title: "Account" },
);
export type Account = Static<typeof Account>;
