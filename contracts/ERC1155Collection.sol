// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

import {Collection} from "./collection/Collection.sol";
import {IERC1155Collection} from "./interfaces/IERC1155Collection.sol";

/// @title ERC1155Collection
/// @notice See {IERC1155Collection}.
contract ERC1155Collection is ERC1155, Collection, IERC1155Collection {
    /// @dev Fits in one slot. `created` stays true even if the supply returns to zero.
    struct Token {
        uint128 supply;
        bool created;
        bool hasOwnURI;
    }

    mapping(uint256 id => Token) private _tokens;

    mapping(uint256 id => string) private _ownURIs;

    bool private _dismissed;

    /// @param relay_ The relay. Its address stands for the service.
    constructor(address relay_) ERC1155("") Collection(relay_) {
        // The implementation contract cannot mint; only its clones can.
        _dismissed = true;
    }

    /// @inheritdoc IERC1155Collection
    function create(address to, uint256 id, uint256 amount, string calldata tokenURI) external {
        _checkMinter(_dismissed);
        if (_tokens[id].created) revert ERC1155AlreadyCreated(id);
        _tokens[id].created = true;
        _addSupply(id, amount);
        if (bytes(tokenURI).length != 0) {
            _tokens[id].hasOwnURI = true;
            _ownURIs[id] = tokenURI;
            emit URI(tokenURI, id);
        }

        _mint(to, id, amount, "");
    }

    /// @inheritdoc IERC1155Collection
    function mint(address to, uint256 id, uint256 amount) external {
        _checkMinter(_dismissed);
        _checkCreated(id);
        _addSupply(id, amount);

        _mint(to, id, amount, "");
    }

    /// @inheritdoc IERC1155Collection
    function transferWithAuthorization(
        address from,
        address to,
        uint256 id,
        uint256 amount,
        bytes32 r,
        bytes32 vs
    ) external {
        _checkTransferable();
        _checkTransferAuthorization(from, to, id, amount, r, vs);
        _safeTransferFrom(from, to, id, amount, "");
    }

    /// @inheritdoc IERC1155Collection
    function burnWithAuthorization(address from, uint256 id, uint256 amount, bytes32 r, bytes32 vs) external {
        _checkBurnAuthorization(from, id, amount, r, vs);
        _burn(from, id, amount);
    }

    /// @inheritdoc IERC1155Collection
    function burn(address from, uint256 id, uint256 amount) external {
        _checkAuthorized(msg.sender, from);
        _burn(from, id, amount);
    }

    /// @inheritdoc IERC1155Collection
    function burnBatch(address from, uint256[] calldata ids, uint256[] calldata amounts) external {
        _checkAuthorized(msg.sender, from);
        _burnBatch(from, ids, amounts);
    }

    /// @inheritdoc IERC1155Collection
    function setTokenURI(uint256 id, string calldata tokenURI) external onlyOwner whenMetadataNotFrozen {
        _checkCreated(id);
        _tokens[id].hasOwnURI = bytes(tokenURI).length != 0;
        _ownURIs[id] = tokenURI;
        emit URI(uri(id), id);
    }

    /// @inheritdoc IERC1155Collection
    function name() external view returns (string memory) {
        return _nameArgument();
    }

    /// @inheritdoc IERC1155Collection
    function symbol() external view returns (string memory) {
        return _symbolArgument();
    }

    /// @inheritdoc IERC1155Collection
    function totalSupply(uint256 id) external view returns (uint256) {
        return _tokens[id].supply;
    }

    /// @inheritdoc IERC1155Collection
    function exists(uint256 id) external view returns (bool) {
        return _tokens[id].created;
    }

    /// @inheritdoc ERC1155
    function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes memory data) public override {
        _checkTransferable();
        super.safeTransferFrom(from, to, id, value, data);
    }

    /// @inheritdoc ERC1155
    function safeBatchTransferFrom(
        address from,
        address to,
        uint256[] memory ids,
        uint256[] memory values,
        bytes memory data
    ) public override {
        _checkTransferable();
        super.safeBatchTransferFrom(from, to, ids, values, data);
    }

    /// @inheritdoc ERC1155
    function uri(uint256 id) public view override returns (string memory) {
        return _tokens[id].hasOwnURI ? _ownURIs[id] : _effectiveBaseURI("/{id}");
    }

    /// @inheritdoc ERC1155
    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return _isCollectionInterface(interfaceId) || super.supportsInterface(interfaceId);
    }

    /// @dev Subtracts burnt copies from the supply. {_addSupply} has already added minted copies.
    function _update(address from, address to, uint256[] memory ids, uint256[] memory values) internal override {
        super._update(from, to, ids, values);
        if (to == address(0)) {
            for (uint256 i = 0; i < ids.length; ++i) {
                unchecked {
                    // Cannot underflow: `from` held the copies, and the supply is the sum of all balances. The cast is
                    // safe for the same reason.
                    _tokens[ids[i]].supply -= uint128(values[i]);
                }
            }
        }
    }

    /// @inheritdoc ERC1155
    function _setApprovalForAll(address owner_, address operator, bool approved) internal override {
        if (approved) {
            _checkTransferable();
            // The relay calls what its operators tell it to: every operator could move the tokens.
            if (operator == relay) revert ERC1155InvalidOperator(operator);
        }
        super._setApprovalForAll(owner_, operator, approved);
    }

    /// @dev ERC-4906 is for ERC721 only. ERC-1155 has the event {URI}, for one id each.
    function _announceMetadata(uint256 fromTokenId, uint256 toTokenId) internal override {
        for (uint256 id = fromTokenId; ; ++id) {
            emit URI(uri(id), id);
            if (id == toTokenId) break;
        }
    }

    /// @dev The standard has no event for all ids. The new template is in {BaseURIUpdated}.
    // solhint-disable-next-line no-empty-blocks
    function _announceAllMetadata() internal override {}

    function _setServiceDismissed(bool dismissed) internal override {
        _dismissed = dismissed;
    }

    function _serviceDismissed() internal view override returns (bool) {
        return _dismissed;
    }

    /// @dev Adds copies to the supply before they are minted.
    function _addSupply(uint256 id, uint256 amount) private {
        uint128 supply = _tokens[id].supply;
        uint128 available;
        unchecked {
            // Cannot underflow: a uint128 is at most the largest uint128.
            available = type(uint128).max - supply;
        }
        if (amount > available) revert ERC1155ExceededMaxSupply(id, amount, available);
        unchecked {
            // Cannot overflow: the check above guarantees it. The cast is safe for the same reason.
            _tokens[id].supply = supply + uint128(amount);
        }
    }

    /// @dev Reverts if the id was not created.
    function _checkCreated(uint256 id) private view {
        if (!_tokens[id].created) revert ERC1155NotCreated(id);
    }
}
