import { z } from "zod";

export const uploadedMedia = z
  .object({
    uri: z.string().meta({ description: "The file's address, for `image` and `animation_url`." }),
    cid: z.string().meta({ description: "The file's CID (version 1). The same bytes always have the same CID." }),
    type: z.string().meta({ description: "The media type, detected from the bytes." }),
    bytes: z.int().meta({ description: "The size of the file, in bytes." }),
  })
  .meta({ id: "UploadedMedia" });
