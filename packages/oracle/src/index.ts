/** Index price sources: the interface, the simulated index of the local testnet, and web feeds. */

export { MOST_GUSTS_PER_HOUR } from "./gusts.js";
export { DEFAULT_HTTP_SOURCE, HttpIndexSource, type HttpSourceSettings } from "./http-source.js";
export type { IndexObservation, IndexSource } from "./index-source.js";
export type { FeedClocks, FeedProblem } from "./price-feed.js";
export { SimulatedIndexSource } from "./simulated-source.js";
