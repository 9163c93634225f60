/** A configuration that cannot be taken; the message begins with the key at fault. */
export class BridgeConfigError extends Error {
  override readonly name = "BridgeConfigError";
}
