/**
 * Reads lines of a sign-in message (EIP-4361) that a gateway has accepted. The statement is one line, the
 * fourth, and may read like any other line.
 */

const STATEMENT = 3;

/** The lines after the last `Resources:`, without their dashes. */
export function siweResourcesOf(text: string): string[] {
  const lines = text.split("\n");
  const title = lines.lastIndexOf("Resources:");
  return title <= STATEMENT ? [] : lines.slice(title + 1).map((line) => line.slice(2));
}

/** The value of a titled line such as `Nonce`. */
export function siweValueOf(text: string, title: string): string | undefined {
  const prefix = `${title}: `;
  const lines = text.split("\n").slice(STATEMENT + 1);
  return lines.find((line) => line.startsWith(prefix))?.slice(prefix.length);
}

const SESSION_RESOURCE = "urn:perpgate:session";

/** Whether a message binds its session's key. */
export function bindsSessionKey(text: string): boolean {
  return siweResourcesOf(text).some(isSessionResource);
}

/** Whether a resource of a message binds a session's key; its parts may be wrong. */
export function isSessionResource(uri: string): boolean {
  const name = uri.slice(0, SESSION_RESOURCE.length).toLowerCase();
  return name === SESSION_RESOURCE && /^(?:[?#].*)?$/.test(uri.slice(SESSION_RESOURCE.length));
}
