/**
 * What the session key signs to end another session, or all others: the request's method and path. These
 * requests have no body to sign, and the path names the session.
 */
export function endSessionText(id?: string): string {
  return `DELETE /v1/auth/sessions${id === undefined ? "" : `/${id}`}`;
}
