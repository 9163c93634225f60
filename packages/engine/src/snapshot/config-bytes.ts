/** The venue's parameters as bytes, fields in one fixed order. */
import type { AttestorKind, MarketConfig, VenueConfig } from "../config.js";
import { BytesUnreadable, type StateReader, type StateWriter } from "./bytes.js";

export function writeConfig(w: StateWriter, config: VenueConfig): void {
  w.numbers([
    config.fundSeedMicros,
    config.backstopCapMicros,
    config.fundLossPerHourPpm,
    config.maxOpenOrders,
    config.attestors,
    config.attestorQuorum,
    config.devCreditMicros,
  ]);
  w.text(config.attestorKind);
  w.number(config.markets.length);
  for (const market of config.markets) {
    w.text(market.symbol);
    w.numbers([
      market.microsPerTickLot,
      market.takerFeePpm,
      market.makerFeePpm,
      market.bandPpm,
      market.impactNotionalMicros,
      market.minNotionalMicros,
      market.maxOpenInterestMicros,
      market.maxIndexJumpPpm,
    ]);
    w.numbers(
      market.tiers.flatMap((tier) => [tier.upToMicros, tier.maxLeverage, tier.maintenancePpm]),
    );
  }
}

export function readConfig(r: StateReader): VenueConfig {
  const [fund, cap, fundLossPerHourPpm, maxOpenOrders, attestors, attestorQuorum, devCredit] =
    r.numbers();
  const attestorKind = attestorKindOf(r.text());
  const markets: MarketConfig[] = [];
  r.repeat(() => {
    const symbol = r.text();
    const [microsPerTickLot, takerFeePpm, makerFeePpm, bandPpm, ...bounds] = r.numbers();
    const [impactNotionalMicros, minNotionalMicros, maxOpenInterestMicros, maxIndexJumpPpm] =
      bounds;
    const flat = r.numbers();
    markets.push({
      symbol,
      microsPerTickLot: microsPerTickLot!,
      takerFeePpm: takerFeePpm!,
      makerFeePpm: makerFeePpm!,
      bandPpm: bandPpm!,
      impactNotionalMicros: impactNotionalMicros!,
      minNotionalMicros: minNotionalMicros!,
      maxOpenInterestMicros: maxOpenInterestMicros!,
      maxIndexJumpPpm: maxIndexJumpPpm!,
      tiers: Array.from({ length: flat.length / 3 }, (_, i) => ({
        upToMicros: flat[3 * i]!,
        maxLeverage: flat[3 * i + 1]!,
        maintenancePpm: flat[3 * i + 2]!,
      })),
    });
  });
  return {
    markets,
    fundSeedMicros: fund!,
    backstopCapMicros: cap!,
    fundLossPerHourPpm: fundLossPerHourPpm!,
    maxOpenOrders: maxOpenOrders!,
    attestorKind,
    attestors: attestors!,
    attestorQuorum: attestorQuorum!,
    devCreditMicros: devCredit!,
  };
}

function attestorKindOf(text: string): AttestorKind {
  if (text === "dev" || text === "chain") return text;
  throw new BytesUnreadable(`${text} is not a kind of attestor`);
}
