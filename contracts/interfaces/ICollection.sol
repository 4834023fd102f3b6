// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title ICollection
/// @notice The functions that ERC721 and ERC1155 collections share: ownership, minters, metadata, royalty and freezing.
/// @dev "The service" is the relay. It can mint until the owner revokes that right. While the relay's owner owns the
/// collection by default, the service can also announce metadata changes and freeze the metadata. It can never move a
/// token without a signature of the wallet that holds it.
interface ICollection {
    /// @notice Emitted when an account gets or loses the right to mint.
    /// @param account The minter; the relay's address stands for the service.
    /// @param allowed Whether the account can mint from now on.
    event MinterSet(address indexed account, bool allowed);

    /// @notice Emitted when the base URI is replaced.
    /// @param baseURI The new base URI; for ERC1155 a template that contains `{id}`.
    event BaseURIUpdated(string baseURI);

    /// @notice Emitted when the default royalty is replaced.
    /// @param recipient The new recipient; zero means that the royalty was removed.
    /// @param basisPoints The royalty in basis points (1/10,000) of the sale price.
    event RoyaltyUpdated(address indexed recipient, uint256 basisPoints);

    /// @notice Emitted when the metadata is frozen: no URI of the collection can change any more.
    event MetadataFrozen();

    /// @notice Emitted when the royalty is frozen: it can never change again.
    event RoyaltyFrozen();

    /// @notice Emitted when the collection gets a new owner.
    /// @param previousOwner The old owner.
    /// @param newOwner The new owner; zero after the ownership was renounced.
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    /// @notice Emitted when the owner offers the ownership to another account, which must accept it.
    /// @param previousOwner The current owner.
    /// @param newOwner The account that can accept; zero withdraws the offer.
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);

    /// @notice ERC-7572: emitted when the collection's own metadata changes.
    event ContractURIUpdated();

    /// @notice Thrown when the caller is not the owner, or accepts an ownership that was not offered to it.
    /// @param account The caller.
    error OwnableUnauthorizedAccount(address account);

    /// @notice Thrown when the ownership is offered to the relay: every operator could then act as the owner.
    /// @param owner The account.
    error OwnableInvalidOwner(address owner);

    /// @notice Thrown when a token of a soulbound collection is transferred, or an account is approved there.
    error CollectionSoulbound();

    /// @notice Thrown when a function that only the relay can call is called by another account.
    /// @param caller The caller.
    error CollectionUnauthorizedRelay(address caller);

    /// @notice Thrown when the caller has no right to mint, or the service calls after the owner revoked its right.
    /// @param caller The caller.
    error CollectionUnauthorizedMinter(address caller);

    /// @notice Thrown when a minter other than the service mints while the relay runs a batch.
    /// @dev Without this check, a receiver's hook could mint between two calls of the batch. The service could then no
    /// longer tell which token belongs to which request.
    /// @param caller The caller.
    error CollectionMintDuringBatch(address caller);

    /// @notice Thrown when metadata is announced or frozen by an account that is neither the owner nor the service
    /// acting for an owner by default.
    /// @param caller The caller.
    error CollectionUnauthorizedSteward(address caller);

    /// @notice Thrown when a URI is changed, announced or frozen after the metadata was frozen.
    error CollectionMetadataFrozen();

    /// @notice Thrown when metadata is frozen at a new URI, but the collection is self-hosted or its owner has already
    /// replaced a URI.
    error CollectionNotHosted();

    /// @notice Thrown when the royalty is changed or frozen after it was frozen.
    error CollectionRoyaltyFrozen();

    /// @notice Thrown when a royalty is above 10,000 basis points, or is not zero and has no recipient.
    /// @param recipient The recipient.
    /// @param basisPoints The royalty in basis points (1/10,000) of the sale price.
    error CollectionInvalidRoyalty(address recipient, uint256 basisPoints);

    /// @notice Thrown when the range of an announcement ends before it starts.
    /// @param fromTokenId The first token.
    /// @param toTokenId The last token.
    error CollectionInvalidRange(uint256 fromTokenId, uint256 toTokenId);

    /// @notice Thrown when a transfer or a burn is not signed by the wallet that is named as the holder.
    /// @param wallet The wallet that had to sign.
    /// @param signer The account recovered from the signature; zero if the signature is malformed.
    /// @param number The request number that the relay appended to the calldata.
    error CollectionInvalidAuthorization(address wallet, address signer, uint256 number);

    /// @notice Grants or revokes the right to mint. Only the owner can call this.
    /// @param account The minter; the relay's address stands for the service. The owner can name itself.
    /// @param allowed Whether the account can mint from now on.
    function setMinter(address account, bool allowed) external;

    /// @notice Replaces the base URI. Only the owner can call this.
    /// @param baseURI ERC721: the prefix of the token id. ERC1155: the template that contains `{id}`.
    function setBaseURI(string calldata baseURI) external;

    /// @notice Replaces the URI of the collection's own metadata. Only the owner can call this.
    /// @param uri The new URI.
    function setContractURI(string calldata uri) external;

    /// @notice Replaces the royalty. Only the owner can call this.
    /// @param recipient The recipient; zero, together with zero basis points, removes the royalty.
    /// @param basisPoints The royalty in basis points (1/10,000) of the sale price, at most 10,000.
    function setRoyalty(address recipient, uint256 basisPoints) external;

    /// @notice Announces changed metadata of consecutive tokens, so that marketplaces read it again. ERC721: one event
    /// of ERC-4906. ERC1155: the event `URI` for each id. The owner can call this, and so can the service while the
    /// relay's owner owns the collection by default.
    /// @param fromTokenId The first token.
    /// @param toTokenId The last token.
    function announceMetadataUpdate(uint256 fromTokenId, uint256 toTokenId) external;

    /// @notice Emits the ERC-7572 event, so that marketplaces read the collection's metadata again. The same accounts
    /// can call this as {announceMetadataUpdate}.
    function announceContractURIUpdate() external;

    /// @notice Freezes every URI for good: base, collection, and existing tokens. The same accounts can call this as
    /// {announceMetadataUpdate}.
    /// @dev A hosted collection keeps the hosted base URI of this moment.
    function freezeMetadata() external;

    /// @notice Replaces every URI of a hosted collection by fixed content, such as a directory on IPFS, and freezes it.
    /// The same accounts can call this as {announceMetadataUpdate}.
    /// @dev Reverts once the owner has replaced a URI: the service cannot overrule what the owner has set.
    /// @param baseURI ERC721: the prefix of the token id. ERC1155: the template that contains `{id}`.
    /// @param uri The URI of the collection's own metadata.
    function freezeMetadataAt(string calldata baseURI, string calldata uri) external;

    /// @notice Freezes the royalty for good. Only the owner can call this.
    function freezeRoyalty() external;

    /// @notice Offers the ownership to an account, which must accept it. Only the owner can call this.
    /// @dev The relay is refused. Unlike in ERC-173, zero does not renounce the ownership.
    /// @param newOwner The account that can accept; zero withdraws the offer.
    function transferOwnership(address newOwner) external;

    /// @notice Accepts the ownership that was offered to the caller.
    function acceptOwnership() external;

    /// @notice Gives up the ownership for good. Only the owner can call this.
    function renounceOwnership() external;

    /// @notice Returns the relay. Its address stands for the service, and it knows the hosted base URI.
    function relay() external view returns (address);

    /// @notice Returns the owner: the account that last accepted the ownership, else the owner named at creation, else
    /// the relay's owner.
    function owner() external view returns (address);

    /// @notice Returns the account that can accept the ownership now. An offer is void for good once its author is no
    /// longer the owner.
    function pendingOwner() external view returns (address);

    /// @notice Tells whether the account can mint.
    /// @param account The account; the relay's address stands for the service.
    function isMinter(address account) external view returns (bool);

    /// @notice Tells whether the tokens are soulbound: they can be minted and burnt, but not transferred.
    function isSoulbound() external view returns (bool);

    /// @notice Tells whether the collection was created with the service's hosted URIs. The owner may have replaced
    /// some of them since.
    function hosted() external view returns (bool);

    /// @notice Tells whether the URIs are frozen for good.
    function metadataFrozen() external view returns (bool);

    /// @notice Tells whether the royalty is frozen for good.
    function royaltyFrozen() external view returns (bool);

    /// @notice ERC-2981: returns the royalty of a sale. It is the same for every token.
    /// @param tokenId The token; it has no influence.
    /// @param salePrice The sale price, in any currency.
    /// @return recipient The account to pay.
    /// @return amount The royalty, in the unit of `salePrice`.
    function royaltyInfo(uint256 tokenId, uint256 salePrice) external view returns (address recipient, uint256 amount);

    /// @notice ERC-7572: returns the URI of the collection's own metadata.
    function contractURI() external view returns (string memory);
}
