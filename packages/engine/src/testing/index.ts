/** Test support for other packages: the naive reference venue, random command flows, scenarios. */

export { bareOrder } from "./bare-order.js";
export {
  addressOf,
  creditVote,
  genesis,
  openSession,
  PLAIN_EXTRAS,
  plainOrder,
  setCohort,
  withdrawalVote,
} from "./commands.js";
export { depositCommands } from "./flow/deposit-flow.js";
export { batches } from "./flow/flow.js";
export { applyBatch, type LogBatch } from "./flow/log-batch.js";
export type { ProfileName } from "./flow/profiles.js";
export { ReferenceVenue } from "./reference/venue.js";
export {
  BTC,
  DUST,
  type Listing,
  MAJOR,
  plainMarket,
  SOL,
  venueConfig,
} from "./scenarios/listing.js";
export type { Trader } from "./scenarios/trader.js";
export { Venue } from "./scenarios/venue.js";
export { joining, writerId } from "./sole-writer.js";
export { type Goal, type SearchSize, search, trialsOf } from "./work/search.js";
export type { Shape } from "./work/shape.js";
export type { Trial } from "./work/world.js";
