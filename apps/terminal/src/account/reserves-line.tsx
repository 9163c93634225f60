/** What the venue owes and its vaults hold, in one line, and a check in this browser that the user is counted. */

import type { Reserves } from "@perpgate/protocol";
import { checkReserves } from "@perpgate/sdk";
import { useEffect, useState } from "react";
import { formatDollars } from "../format/numbers.js";
import { formatDayAndClock } from "../format/text.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { ONCE } from "../venue/refresher.js";
import { ActionButton } from "./action-button.js";

export function ReservesLine() {
  const { client, sessions } = useTerminal();
  const [reserves, setReserves] = useState<Reserves>();
  const [found, setFound] = useState<string>();
  useEffect(() => {
    client.reserves(ONCE).then(setReserves, () => undefined);
  }, [client]);
  if (reserves === undefined || reserves.liabilities === null) return null;
  const check = async () => {
    const { session } = sessions;
    if (session === undefined) return;
    try {
      const now = await client.reserves();
      const { address } = await session.account();
      const own = { address, liability: await session.liability() };
      const { logKey, witnesses } = await client.honesty();
      const checked = await checkReserves(now, own, { logKey, witnessKeys: witnesses });
      setFound(typeof checked === "string" ? checked : countedText(own.liability.balanceMicros));
    } catch (error) {
      setFound(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <p className="faint reserves">
      {reservesLine(reserves)} <ActionButton act={check}>{t.withdraw.amCounted}</ActionButton>{" "}
      <output>{found}</output>
    </p>
  );
}

function countedText(micros: number): string {
  return t.withdraw.counted(formatDollars(micros / 1e6));
}

export function reservesLine({ liabilities, difference }: Reserves): string {
  if (liabilities === null) return "";
  const owed = formatDollars(liabilities.sum);
  const time = formatDayAndClock(liabilities.time);
  if (difference === null) return t.withdraw.owedUnknown(owed, time);
  return difference < 0
    ? t.withdraw.owedLess(owed, time, formatDollars(-difference))
    : t.withdraw.owedMore(owed, time, formatDollars(difference));
}
