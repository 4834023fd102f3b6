// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title ICollection
/// @notice What both kinds of collections have in common: ownership, minters, metadata, royalty and freezing.
/// @dev "The service" is the relay. It may mint until the owner dismisses it, and, until a `new_owner` took over,
/// announce metadata changes and freeze the metadata. It can never move a token without the signature of the wallet
/// that holds it.
interface ICollection {
    /// @notice Somebody was appointed or dismissed as a minter. The relay's address stands for the service.
    event MinterSet(address indexed account, bool allowed);

    /// @notice The base URI (the template with `{id}` of an ERC1155 collection) was replaced.
    event BaseURIUpdated(string baseURI);

    /// @notice The default royalty was replaced. A recipient of zero means that it was removed.
    event RoyaltyUpdated(address indexed recipient, uint256 basisPoints);

    /// @notice No URI of the collection will change any more.
    event MetadataFrozen();

    /// @notice The royalty will not change any more.
    event RoyaltyFrozen();

    /// @notice ERC-173: the ownership moved.
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    /// @notice The owner offered the ownership to `newOwner`, who has to accept it. Zero withdraws the offer.
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);

    /// @notice ERC-4906: the metadata of one token changed.
    event MetadataUpdate(uint256 _tokenId);

    /// @notice ERC-4906: the metadata of a range of tokens changed.
    event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId);

    /// @notice ERC-7572: the collection's own metadata changed.
    event ContractURIUpdated();

    /// @notice Thrown when the caller is not the owner, or not the one to whom the ownership was offered.
    error OwnableUnauthorizedAccount(address account);

    /// @notice Thrown when a function for the relay is called by somebody else.
    error CollectionUnauthorizedRelay(address caller);

    /// @notice Thrown when the caller is not appointed as a minter; the service, when it was dismissed.
    error CollectionUnauthorizedMinter(address caller);

    /// @notice Thrown when a minter other than the service mints while a batch of the relay is running.
    /// @dev Otherwise a receiver's hook could mint between two items of the batch, and the service could no longer tell
    /// which token belongs to which request.
    error CollectionMintDuringBatch(address caller);

    /// @notice Thrown when neither the owner nor, before a `new_owner` took over, the service announces or freezes.
    error CollectionUnauthorizedSteward(address caller);

    /// @notice Thrown when an URI is changed or announced after the metadata was frozen.
    error CollectionMetadataFrozen();

    /// @notice Thrown when the service's hosting is to be frozen elsewhere, but not all URIs are the service's.
    error CollectionNotHosted();

    /// @notice Thrown when the royalty is changed after it was frozen.
    error CollectionRoyaltyFrozen();

    /// @notice Thrown when a royalty is above the whole price, or names no recipient although it is not zero.
    error CollectionInvalidRoyalty(address recipient, uint256 basisPoints);

    /// @notice Thrown when the range of an announcement is empty.
    error CollectionInvalidRange(uint256 fromTokenId, uint256 toTokenId);

    /// @notice Thrown when a transfer is not signed by the wallet that holds the token.
    /// @param wallet Who had to sign.
    /// @param signer Who signed, by the signature given; zero if it is malformed.
    /// @param number The request number, as the relay appended it.
    error CollectionInvalidAuthorization(address wallet, address signer, uint256 number);

    /// @notice Appoints or dismisses a minter. Only the owner may call.
    /// @param account The minter; the relay's address for the service. The owner may name itself.
    /// @param allowed Whether it may mint from now on.
    function setMinter(address account, bool allowed) external;

    /// @notice Replaces the base URI. Only the owner may call.
    /// @param baseURI ERC721: what the token id is appended to. ERC1155: the template with `{id}`.
    function setBaseURI(string calldata baseURI) external;

    /// @notice Replaces the URI of the collection's own metadata. Only the owner may call.
    function setContractURI(string calldata uri) external;

    /// @notice Replaces the royalty. Only the owner may call.
    /// @param recipient Who gets it; zero, together with zero basis points, removes it.
    /// @param basisPoints Its share of the sale price in 1/10,000.
    function setRoyalty(address recipient, uint256 basisPoints) external;

    /// @notice Tells the world that the metadata of these tokens changed. For the owner, and the service until a
    /// `new_owner` took over.
    function announceMetadataUpdate(uint256 fromTokenId, uint256 toTokenId) external;

    /// @notice Tells the world that the collection's own metadata changed. For the same callers as
    /// {announceMetadataUpdate}.
    function announceContractURIUpdate() external;

    /// @notice Fixes every URI for good: base, collection, and those of existing tokens. For the same callers as
    /// {announceMetadataUpdate}.
    /// @dev A hosted collection keeps the hosted base as it is at this moment.
    function freezeMetadata() external;

    /// @notice Replaces every URI of a hosted collection by fixed content (a directory on IPFS, say) and freezes it
    /// there, in one step. For the same callers as {announceMetadataUpdate}.
    /// @dev Only while the owner has replaced no URI: what the owner set, the service cannot overrule.
    /// @param baseURI ERC721: what the token id is appended to. ERC1155: the template with `{id}`.
    /// @param uri Where the collection's own metadata is.
    function freezeMetadataAt(string calldata baseURI, string calldata uri) external;

    /// @notice Fixes the royalty for good. Only the owner may call.
    function freezeRoyalty() external;

    /// @notice Offers the ownership to an account, which has to accept it. Only the owner may call.
    function transferOwnership(address newOwner) external;

    /// @notice Takes the ownership that was offered to the caller.
    function acceptOwnership() external;

    /// @notice Gives up the ownership for good. Only the owner may call.
    function renounceOwnership() external;

    /// @notice The relay, whose address stands for the service.
    function relay() external view returns (address);

    /// @notice The factory that made this collection and knows the hosted base URI.
    function factory() external view returns (address);

    /// @notice The `new_owner` of the creation, or whoever accepted the ownership since; otherwise the relay's owner.
    function owner() external view returns (address);

    /// @notice Who may accept the ownership now. An offer counts only as long as the one who made it is the owner.
    function pendingOwner() external view returns (address);

    /// @notice Whether the account may mint; the relay's address asks for the service.
    function isMinter(address account) external view returns (bool);

    /// @notice Whether the collection's URIs come from the service's hosted base (in part, if the owner replaced
    /// others).
    function hosted() external view returns (bool);

    /// @notice Whether the URIs are fixed for good.
    function metadataFrozen() external view returns (bool);

    /// @notice Whether the royalty is fixed for good.
    function royaltyFrozen() external view returns (bool);

    /// @notice ERC-2981: the royalty of a sale at this price. The same for every token.
    function royaltyInfo(uint256 tokenId, uint256 salePrice) external view returns (address recipient, uint256 amount);

    /// @notice ERC-7572: where the collection's own metadata is.
    function contractURI() external view returns (string memory);
}
