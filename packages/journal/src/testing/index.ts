/** Test support for users of the journal: a simulated disk that fails on request. */
export { FakeDisk, type Fault, SimulatedCrash } from "./fake-disk.js";
