/**
 * Who signs the sign-in message: a local account (viem's, or anything with an address and
 * `signMessage`), or a wallet of a browser, which speaks EIP-1193.
 */

import { checksumAddress } from "@perpgate/protocol/ethereum-address";

/** A viem local account fits. */
export interface MessageSigner {
  readonly address: string;
  signMessage(args: { message: string }): Promise<string>;
}

/** An EIP-1193 provider, such as `window.ethereum`. */
export interface WalletProvider {
  request(args: { method: string; params?: unknown }): Promise<unknown>;
}

/** Exactly one of a local account and a wallet. */
export type SignerChoice =
  | { readonly account: MessageSigner; readonly wallet?: undefined; readonly address?: undefined }
  | { readonly wallet: WalletProvider; readonly address?: string; readonly account?: undefined };

/** The signer with its address in EIP-55 form. A wallet is asked for an address if none is given. */
export async function signerOf(choice: SignerChoice): Promise<MessageSigner> {
  const { account, wallet, address } = choice;
  if (account !== undefined) {
    return {
      address: checksumAddress(account.address),
      signMessage: (args) => account.signMessage(args),
    };
  }
  const chosen = checksumAddress(address ?? (await firstAccountOf(wallet)));
  return {
    address: chosen,
    signMessage: ({ message }) => personalSign(wallet, chosen, message),
  };
}

/** The chain that a wallet is on; an account has none, and some wallets do not tell: mainnet. */
export async function chainIdOf({ wallet }: SignerChoice): Promise<number> {
  if (wallet === undefined) return 1;
  const answer = await wallet.request({ method: "eth_chainId" }).catch(() => undefined);
  const chainId = Number(answer);
  return typeof answer === "string" && Number.isSafeInteger(chainId) && chainId > 0 ? chainId : 1;
}

async function firstAccountOf(wallet: WalletProvider): Promise<string> {
  const accounts = await wallet.request({ method: "eth_requestAccounts" });
  const [first]: unknown[] = Array.isArray(accounts) ? accounts : [];
  if (typeof first !== "string") throw new TypeError("the wallet shares no account");
  return first;
}

async function personalSign(
  wallet: WalletProvider,
  address: string,
  message: string,
): Promise<string> {
  let hex = "0x";
  for (const byte of new TextEncoder().encode(message)) hex += byte.toString(16).padStart(2, "0");
  const signature = await wallet.request({ method: "personal_sign", params: [hex, address] });
  if (typeof signature !== "string") throw new TypeError("the wallet returned no signature");
  return signature;
}
