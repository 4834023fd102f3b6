// The main entry of the package. Files of this repository import from the file that has it.
export {
  answerOf,
  createClient,
  type Client,
  type ClientOptions,
  type MintOptions,
  type Shape,
  type WalletOptions,
} from "./client.ts";
export type { components, operations, paths, webhooks } from "./document.ts";
export type { ExportOptions } from "./exports.ts";
export type { AppEvent, EventName, EventsOptions, StreamedEvent } from "./events.ts";
export {
  ApiRefusal,
  ConnectionFailed,
  type ErrorBody,
  type FieldErrors,
  RequestFailed,
  RequestTimeout,
  type WebhookProblem,
  WebhookRefused,
} from "./errors.ts";
export type { MediaBody, UploadedMedia, UploadOptions } from "./media.ts";
export type { CompletedRequest, RequestType, WaitOptions } from "./wait.ts";
export { verifyWebhook, type VerifyOptions, type WebhookEvent, type WebhookHeaders } from "./webhooks.ts";
