/** Test support for whoever builds on the journal: a disk that fails on request, and its dice. */
export { FakeDisk, type Fault, type FaultPlan, SimulatedCrash } from "./fake-disk.js";
export { SECTOR_BYTES } from "./fake-inode.js";
