/** A real venue behind a real gateway on a free port, for the tests of whoever talks to one. */

export { newFolder, PRICES, type RunningVenue, runVenue } from "../venue/testing/running-venue.js";
export { Chance, OrderFlow } from "../ws/testing/order-flow.js";
