/** How a ring picks accomplices, prices, leverages and sizes: the edges of every rule first. */
import type { Random } from "@perpgate/protocol/random";
import type { Ring } from "./ring.js";

export class Choices {
  /** Half-width of the price band, as a part of the mark. */
  readonly band: number;

  constructor(
    private readonly ring: Ring,
    private readonly random: Random,
  ) {
    this.band = ring.market.config.bandPpm / 1e6;
  }

  two(): [number, number] {
    const { members } = this.ring.terms;
    const one = this.random.int(0, members - 1);
    return [one, (one + this.random.int(1, members - 1)) % members];
  }

  /** At an edge of the band, at the mark, at the index, at a clamp of the mark, or anywhere. */
  price(): number {
    const { ring, random } = this;
    const { mark, indexTicks } = ring;
    const reach = Math.floor(mark * this.band);
    const width = Math.floor((indexTicks * ring.market.maintenance.lowestPpm) / 2e6);
    const price = random.pick([
      mark,
      mark + reach,
      mark - reach,
      indexTicks,
      indexTicks + width,
      indexTicks - width,
      random.int(mark - reach, mark + reach),
    ]);
    return Math.max(1, price);
  }

  leverage(): number {
    const most = this.ring.market.config.tiers[0]!.maxLeverage;
    return this.random.pick([1, 2, most, most, most, most - 1, this.random.int(1, most)]);
  }

  /** A pair of quotes of the impact notional toward one edge of the band, or far beyond it. */
  quotes(direction: number): { bid: number; ask: number; lots: number; leverage: number } {
    const { ring, random } = this;
    const { mark, market } = ring;
    const unit = mark * market.microsPerTickLot;
    const lots = Math.ceil((market.config.impactNotionalMicros * 1.01) / unit);
    const far = random.chance(0.3);
    const edge = Math.floor(mark * (1 + direction * this.band * random.pick([0.2, 0.8, 0.98])));
    const bid = direction < 0 && far ? Math.ceil(mark / 10) : edge;
    const ask = direction > 0 && far ? mark * 10 : edge + 1;
    const leverage = Math.min(5, market.maintenance.tierOf(lots * unit).maxLeverage);
    return { bid: Math.max(1, bid), ask: Math.max(2, ask), lots, leverage };
  }

  /** Dust, something, a tier's bound, or as much as a wallet carries. */
  size(): number {
    const { ring, random } = this;
    const unit = ring.mark * ring.market.microsPerTickLot;
    const [first, second] = ring.market.config.tiers;
    const wallet = ring.walletOf(random.int(0, ring.terms.members - 1));
    const notional = random.pick([
      unit,
      unit * random.int(2, 50),
      first!.upToMicros,
      (second ?? first!).upToMicros,
      wallet * random.int(1, first!.maxLeverage),
      wallet * first!.maxLeverage * 0.9,
    ]);
    return Math.max(1, Math.floor(notional / unit));
  }
}
