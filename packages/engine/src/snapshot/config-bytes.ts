/** The venue's parameters as bytes, fields in one fixed order. */
import type { AttestorKind, MarketConfig, VenueConfig } from "../config.js";
import { type ByteReader, BytesUnreadable, type ByteWriter } from "./bytes.js";

export function writeConfig(w: ByteWriter, config: VenueConfig): void {
  w.numbers([
    config.fundSeedMicros,
    config.backstopCapMicros,
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
    ]);
    w.numbers(
      market.tiers.flatMap((tier) => [tier.upToMicros, tier.maxLeverage, tier.maintenancePpm]),
    );
  }
}

export function readConfig(r: ByteReader): VenueConfig {
  const [fund, cap, maxOpenOrders, attestors, attestorQuorum, devCredit] = r.numbers();
  const attestorKind = attestorKindOf(r.text());
  const markets: MarketConfig[] = [];
  r.repeat(() => {
    const symbol = r.text();
    const [microsPerTickLot, takerFeePpm, makerFeePpm, bandPpm, impactNotionalMicros] = r.numbers();
    const flat = r.numbers();
    markets.push({
      symbol,
      microsPerTickLot: microsPerTickLot!,
      takerFeePpm: takerFeePpm!,
      makerFeePpm: makerFeePpm!,
      bandPpm: bandPpm!,
      impactNotionalMicros: impactNotionalMicros!,
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
