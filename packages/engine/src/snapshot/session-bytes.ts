/** Sessions, their nonces and the used sign-in nonces as bytes, ascending. */
import { NONCE_WINDOW } from "../config.js";
import type { VenueState } from "../state/venue.js";
import type { StateReader, StateWriter } from "./bytes.js";

export function writeSessions(w: StateWriter, s: VenueState): void {
  const sessions = s.sessions.all();
  w.number(sessions.length);
  for (const session of sessions) {
    const { nonces } = session;
    w.numbers([
      session.number,
      session.account,
      session.expiresAtMs,
      session.maxOrderNotionalMicros,
      session.maxNotionalMicros,
      session.cancelOnDisconnect ? 1 : 0,
    ]);
    w.text(session.key);
    w.text(session.tokenHash);
    w.numbers(session.markets === null ? [] : [...session.markets].sort((a, b) => a - b));
    w.number(nonces.count);
    nonces.forEach((nonce, orderId) => {
      w.number(nonce);
      w.number(orderId);
    });
  }
  const used = s.sessions.usedNonces.entries(s.timeMs);
  w.number(used.length);
  for (const [key, untilMs] of used) {
    w.text(key);
    w.number(untilMs);
  }
}

export function readSessions(r: StateReader, s: VenueState): void {
  r.repeat(() => {
    const [number, account, expiresAtMs, maxOrderNotional, maxNotional, option] = r.numbers();
    if (option !== 0 && option !== 1) throw new RangeError(`${option} is neither on nor off`);
    const key = r.text();
    const tokenHash = r.text();
    const markets = r.numbers();
    const entries = r.count(16);
    if (entries > NONCE_WINDOW) throw new RangeError("more nonces than a session remembers");
    const { nonces } = s.sessions.open({
      number: number!,
      account: account!,
      key,
      tokenHash,
      expiresAtMs: expiresAtMs!,
      maxOrderNotionalMicros: maxOrderNotional!,
      maxNotionalMicros: maxNotional!,
      markets: markets.length === 0 ? null : new Set(markets),
      cancelOnDisconnect: option === 1,
    });
    let last = -1;
    for (let i = 0; i < entries; i++) {
      const nonce = r.number();
      if (!(nonce > last)) throw new RangeError("nonces must rise");
      nonces.remember(nonce, r.number());
      last = nonce;
    }
  });
  r.repeat(() => {
    const key = r.text();
    s.sessions.usedNonces.use(key, r.number());
  });
}
