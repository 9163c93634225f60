/** Test support for users of the journal: a simulated disk that fails on request. */
export { FakeDisk, type Fault, type FaultPlan, SimulatedCrash } from "./fake-disk.js";
export { SECTOR_BYTES } from "./fake-inode.js";
