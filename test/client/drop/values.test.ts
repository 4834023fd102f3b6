import { expect } from "chai";

import {
  DEFAULT_LIMITS,
  MAX_ATTRIBUTE_DEPTH,
  MAX_ATTRIBUTES,
  MAX_DESCRIPTION_LENGTH,
  MAX_METADATA_BYTES,
  MAX_NAME_LENGTH,
  MAX_REFERENCE_LENGTH,
  MAX_SYMBOL_LENGTH,
  MAX_UNLOCKABLE_BYTES,
  MAX_URI_LENGTH,
  MAX_USER_IDENTIFIER_LENGTH,
} from "../../../api/config/limits.ts";
import { MEDIA_FIELDS, METADATA_FIELDS } from "../../../api/domain/command.ts";
import { LIMITS, MEDIA, METADATA } from "../../../client/drop/values.ts";

describe("the checks of a drop", () => {
  it("know the fields and the default limits of the service", () => {
    expect(METADATA).to.have.members([...METADATA_FIELDS]);
    expect(MEDIA).to.deep.equal(MEDIA_FIELDS);
    expect(LIMITS).to.deep.include({
      name: MAX_NAME_LENGTH,
      description: MAX_DESCRIPTION_LENGTH,
      symbol: MAX_SYMBOL_LENGTH,
      uri: MAX_URI_LENGTH,
      attributes: MAX_ATTRIBUTES,
      userIdentifier: MAX_USER_IDENTIFIER_LENGTH,
      unlockableBytes: MAX_UNLOCKABLE_BYTES,
      mediaBytes: DEFAULT_LIMITS.mediaBytes,
      metadataBytes: MAX_METADATA_BYTES,
    });
    expect(LIMITS).to.include({ reference: MAX_REFERENCE_LENGTH, attributeDepth: MAX_ATTRIBUTE_DEPTH });
  });
});
