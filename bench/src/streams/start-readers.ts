import { Child, idlePriority } from "../harness/child.js";
import type { Address } from "../harness/http.js";
import type { ReadersHandlers } from "./readers.js";

/**
 * Starts readers of a stream. With `isIdle` they run only while a core is idle: readers on other
 * machines would use cores of those machines.
 */
export async function startReaders(
  address: Address,
  sockets: number,
  stream: string | null,
  isIdle = true,
): Promise<Child<ReadersHandlers>> {
  const url = new URL("./readers.js", import.meta.url);
  const readers = Child.start<ReadersHandlers>(url, [], isIdle ? idlePriority() : {});
  await readers.call("open", address, sockets, stream);
  return readers;
}
