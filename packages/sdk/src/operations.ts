/** The operations of the interface, for `request` and `requestSigned`: `@perpgate/sdk/operations`. */

export * from "@perpgate/protocol/operations";
