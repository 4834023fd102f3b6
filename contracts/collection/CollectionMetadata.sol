// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

import {ICollection} from "../interfaces/ICollection.sol";
import {IRelay} from "../interfaces/IRelay.sol";
import {CloneArguments} from "../libraries/CloneArguments.sol";
import {CollectionOwnership} from "./CollectionOwnership.sol";

/// @title CollectionMetadata
/// @notice The base URI and the collection URI, and freezing them. Each URI comes from the clone's arguments, from the
/// service's hosted base, or from the owner, who can replace it.
abstract contract CollectionMetadata is CollectionOwnership {
    using CloneArguments for CloneArguments.Head;

    /// @dev Valid only if `_baseURISet` or `_contractURISet` is true. The flags allow the owner to set an empty URI.
    string private _ownBaseURI;
    string private _ownContractURI;

    /// @dev The value of {_hostedURI} at the moment of freezing.
    string private _frozenHostedURI;

    bool private _baseURISet;
    bool private _contractURISet;

    /// @inheritdoc ICollection
    bool public metadataFrozen;

    modifier whenMetadataNotFrozen() {
        if (metadataFrozen) revert CollectionMetadataFrozen();
        _;
    }

    /// @inheritdoc ICollection
    function setBaseURI(string calldata baseURI) external onlyOwner whenMetadataNotFrozen {
        _baseURISet = true;
        _ownBaseURI = baseURI;
        emit BaseURIUpdated(baseURI);
        _announceAllMetadata();
    }

    /// @inheritdoc ICollection
    function setContractURI(string calldata uri) external onlyOwner whenMetadataNotFrozen {
        _contractURISet = true;
        _ownContractURI = uri;
        emit ContractURIUpdated();
    }

    /// @inheritdoc ICollection
    function announceMetadataUpdate(uint256 fromTokenId, uint256 toTokenId) external whenMetadataNotFrozen {
        _checkSteward();
        if (fromTokenId > toTokenId) revert CollectionInvalidRange(fromTokenId, toTokenId);
        _announceMetadata(fromTokenId, toTokenId);
    }

    /// @inheritdoc ICollection
    function announceContractURIUpdate() external whenMetadataNotFrozen {
        _checkSteward();
        emit ContractURIUpdated();
    }

    /// @inheritdoc ICollection
    function freezeMetadata() external whenMetadataNotFrozen {
        _checkSteward();
        if (_head().hosted) _frozenHostedURI = _hostedURI();
        metadataFrozen = true;
        emit MetadataFrozen();
    }

    /// @inheritdoc ICollection
    function freezeMetadataAt(string calldata baseURI, string calldata uri) external whenMetadataNotFrozen {
        _checkSteward();
        if (_baseURISet || _contractURISet || !_head().hosted) revert CollectionNotHosted();
        _baseURISet = true;
        _contractURISet = true;
        metadataFrozen = true;
        _ownBaseURI = baseURI;
        _ownContractURI = uri;
        emit BaseURIUpdated(baseURI);
        _announceAllMetadata();
        emit ContractURIUpdated();
        emit MetadataFrozen();
    }

    /// @inheritdoc ICollection
    function contractURI() external view returns (string memory) {
        if (_contractURISet) return _ownContractURI;
        bytes memory packed = _packedArguments();
        CloneArguments.Head memory head = CloneArguments.decode(packed);
        return head.hosted ? _hostedURI() : head.contractURI(packed);
    }

    /// @dev Emits the event of the token standard for consecutive tokens whose metadata changed.
    function _announceMetadata(uint256 fromTokenId, uint256 toTokenId) internal virtual;

    /// @dev Emits the event of the token standard for all tokens, if it has one.
    function _announceAllMetadata() internal virtual;

    /// @dev Returns the base URI now in force (ERC1155: the template).
    /// @param hostedSuffix The end of the base URI of a hosted collection.
    function _effectiveBaseURI(string memory hostedSuffix) internal view returns (string memory) {
        if (_baseURISet) return _ownBaseURI;
        bytes memory packed = _packedArguments();
        CloneArguments.Head memory head = CloneArguments.decode(packed);
        return head.hosted ? string.concat(_hostedURI(), hostedSuffix) : head.baseURI(packed);
    }

    /// @dev Returns the URI under which the service hosts this collection: hosted base, chain id, own address.
    function _hostedURI() private view returns (string memory) {
        if (metadataFrozen) return _frozenHostedURI;
        return
            string.concat(
                IRelay(relay).hostedBaseURI(),
                Strings.toString(block.chainid),
                "/",
                Strings.toChecksumHexString(address(this))
            );
    }
}
