/** Test support: a simulated disk that fails on request, and waits for conditions. */
export { FakeDisk, type Fault, SimulatedCrash } from "./fake-disk.js";
export { POLL, until } from "./until.js";
