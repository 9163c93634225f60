/** Index price sources: the interface and the simulated one of the local testnet. */

export type { IndexObservation, IndexSource } from "./index-source.js";
export { SimulatedIndexSource, type SimulatedMarket } from "./simulated-source.js";
