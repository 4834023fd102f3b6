import { z } from "zod";

import { uploadMedia as upload } from "../../commands/upload-media.ts";
import { defineEndpoint } from "../endpoint.ts";
import { uploadedMediaExample } from "../examples.ts";

const uploadedMedia = z
  .object({
    uri: z.string().describe("The file's address, for `image` and `animation_url`."),
    cid: z.string().describe("The file's CID (version 1). The same bytes always have the same CID."),
    type: z.string().describe("The media type, detected from the bytes."),
    bytes: z.int().describe("The size of the file, in bytes."),
  })
  .meta({ id: "UploadedMedia" });

export const uploadMedia = defineEndpoint({
  method: "post",
  path: "/media",
  summary: "Upload a file for metadata",
  name: "uploadMedia",
  description:
    "The body is the file itself, with its media type or `application/octet-stream` as `Content-Type`, or without one: then the bytes decide. The file is stored under its CID and served under `/ipfs`, like media that `copy_media` copies. Use `uri` as `image` or `animation_url`. An `image/`, `video/` or `audio/` type that the bytes do not have is refused, and so is an empty file. Other names of a type (`image/x-png`) count as the type. Repeating an upload changes nothing and gets the same answer, so the call needs no `Idempotency-Key`. Files that no metadata names are kept for at least a week.",
  examples: { answer: uploadedMediaExample },
  scope: "media",
  takesFile: true,
  response: uploadedMedia,
  errors: ["quota_exceeded"],
  handle: async (deps, { appId, file }) => {
    if (file === null) throw new Error("this endpoint takes a file");
    const { cid, type, size } = await upload(deps, appId, file);
    return { uri: `ipfs://${cid}`, cid, type, bytes: size };
  },
});
