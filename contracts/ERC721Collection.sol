// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Utils} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Utils.sol";

import {Collection} from "./collection/Collection.sol";
import {IERC721Collection} from "./interfaces/IERC721Collection.sol";
import {CloneArguments} from "./libraries/CloneArguments.sol";
import {MintState} from "./libraries/MintState.sol";

/// @title ERC721Collection
/// @notice See {IERC721Collection}.
contract ERC721Collection is ERC721, Collection, IERC721Collection {
    bytes4 private constant _ERC4906 = 0x49064906;
    bytes4 private constant _ERC5192 = 0xb45a3c0e;

    /// @dev All state that a mint reads and writes, apart from the token itself. The maximum supply is read from the
    /// clone's arguments until the first write. A soulbound collection never stores its maximum here: each mint then
    /// takes the path for a maximum that is not stored, which also emits {Locked}. Other mints pay nothing for that.
    MintState private _state;

    /// @dev The maximum supply of a soulbound collection after its owner lowered it; zero before.
    uint256 private _loweredMaxSupply;

    /// @param relay_ The relay. Its address stands for the service.
    constructor(address relay_) ERC721("", "") Collection(relay_) {
        // The implementation contract cannot mint; only its clones can.
        _setServiceDismissed(true);
    }

    /// @inheritdoc IERC721Collection
    function mint(address to) external returns (uint256 tokenId) {
        tokenId = _takeTokenId();
        _mint(to, tokenId);
        // Checking the code here saves receivers without code the preparation of the call. Measured: 100 gas less.
        if (to.code.length != 0) ERC721Utils.checkOnERC721Received(msg.sender, address(0), to, tokenId, "");
    }

    /// @inheritdoc IERC721Collection
    function mintToWallet(address to) external returns (uint256 tokenId) {
        _checkRelay();
        tokenId = _takeTokenId();
        _mint(to, tokenId);
    }

    /// @inheritdoc IERC721Collection
    function transferWithAuthorization(address from, address to, uint256 tokenId, bytes32 r, bytes32 vs) external {
        _checkTransferable();
        _checkTransferAuthorization(from, to, tokenId, 1, r, vs);
        _safeTransfer(from, to, tokenId);
    }

    /// @inheritdoc IERC721Collection
    function burnWithAuthorization(address from, uint256 tokenId, bytes32 r, bytes32 vs) external {
        _checkBurnAuthorization(from, tokenId, 1, r, vs);
        address holder = _burnToken(tokenId, address(0));
        if (holder == address(0)) revert ERC721NonexistentToken(tokenId);
        if (holder != from) revert ERC721IncorrectOwner(from, tokenId, holder);
    }

    /// @inheritdoc IERC721Collection
    function burn(uint256 tokenId) external {
        _burnToken(tokenId, msg.sender);
    }

    /// @inheritdoc IERC721Collection
    function lowerMaxSupply(uint256 newMaxSupply) external onlyOwner {
        MintState state = _state;
        if (newMaxSupply == 0 || newMaxSupply >= _cap(state, _head()) || newMaxSupply < state.minted()) {
            revert ERC721InvalidMaxSupply(newMaxSupply, state.minted(), maxSupply());
        }
        emit MaxSupplyLowered(maxSupply(), newMaxSupply);
        if (CloneArguments.isSoulbound()) _loweredMaxSupply = newMaxSupply;
        else _state = state.withCap(newMaxSupply);
    }

    /// @inheritdoc IERC721Collection
    function totalMinted() external view returns (uint256) {
        return _state.minted();
    }

    /// @inheritdoc IERC721Collection
    function totalSupply() external view returns (uint256) {
        return _state.minted() - _state.burnt();
    }

    /// @inheritdoc IERC721Collection
    function locked(uint256 tokenId) external view returns (bool) {
        _requireOwned(tokenId);
        return CloneArguments.isSoulbound();
    }

    /// @inheritdoc ERC721
    function transferFrom(address from, address to, uint256 tokenId) public override {
        _checkTransferable();
        super.transferFrom(from, to, tokenId);
    }

    /// @inheritdoc IERC721Collection
    function maxSupply() public view returns (uint256) {
        uint256 cap = _cap(_state, _head());
        return cap == CloneArguments.UNLIMITED ? 0 : cap;
    }

    /// @notice Returns the collection's name.
    function name() public view override returns (string memory) {
        return _nameArgument();
    }

    /// @notice Returns the collection's symbol.
    function symbol() public view override returns (string memory) {
        return _symbolArgument();
    }

    /// @inheritdoc ERC721
    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        if (interfaceId == _ERC5192) return CloneArguments.isSoulbound();
        return interfaceId == _ERC4906 || _isCollectionInterface(interfaceId) || super.supportsInterface(interfaceId);
    }

    /// @dev Every transfer clears the token's approval. This override records the first approval of the collection and
    /// skips the clearing until then. Measured: 2,000 gas less for each transfer of a batch.
    function _approve(address to, uint256 tokenId, address auth, bool emitEvent) internal override {
        if (to != address(0)) {
            _checkApprovable(to);
            _state = _state.withApprovalsUsed();
        } else if (auth == address(0) && !emitEvent && !_state.approvalsUsed()) {
            return;
        }
        super._approve(to, tokenId, auth, emitEvent);
    }

    /// @inheritdoc ERC721
    function _setApprovalForAll(address owner_, address operator, bool approved) internal override {
        if (approved) _checkApprovable(operator);
        super._setApprovalForAll(owner_, operator, approved);
    }

    function _setServiceDismissed(bool dismissed) internal override {
        _state = _state.withServiceDismissed(dismissed);
    }

    function _announceMetadata(uint256 fromTokenId, uint256 toTokenId) internal override {
        if (fromTokenId == toTokenId) emit MetadataUpdate(fromTokenId);
        else emit BatchMetadataUpdate(fromTokenId, toTokenId);
    }

    function _announceAllMetadata() internal override {
        emit BatchMetadataUpdate(0, type(uint256).max);
    }

    /// @inheritdoc ERC721
    function _baseURI() internal view override returns (string memory) {
        return _effectiveBaseURI("/");
    }

    function _serviceDismissed() internal view override returns (bool) {
        return _state.serviceDismissed();
    }

    /// @dev Burns a token and counts it.
    /// @param auth The account that must be authorized; zero if the caller checks the holder that this returns.
    function _burnToken(uint256 tokenId, address auth) private returns (address holder) {
        holder = _update(address(0), tokenId, auth);
        _state = _state.withBurn();
    }

    /// @dev Checks that the caller can mint and that the supply is not exhausted, then counts the new token.
    function _takeTokenId() private returns (uint256) {
        MintState state = _state;
        _checkMinter(state.serviceDismissed());
        if (state.minted() >= state.cap()) {
            // Either the supply is exhausted, or the maximum is not stored: at the first mint, and if the collection is
            // soulbound.
            CloneArguments.Head memory head = _head();
            uint256 cap = _cap(state, head);
            if (state.minted() >= cap) revert ERC721ExceededMaxSupply(cap);
            if (head.soulbound) emit Locked(state.minted() + 1);
            else state = state.withCap(cap);
        }
        state = state.withMint();
        _state = state;
        return state.minted();
    }

    /// @dev Returns the maximum supply. As long as it is not stored, it comes from the clone's arguments.
    function _cap(MintState state, CloneArguments.Head memory head) private view returns (uint256 cap) {
        cap = state.cap();
        if (cap == 0) {
            cap = head.maxSupply;
            if (head.soulbound && _loweredMaxSupply != 0) cap = _loweredMaxSupply;
        }
    }

    /// @dev Reverts if the account cannot be approved for tokens of this collection.
    function _checkApprovable(address account) private view {
        _checkTransferable();
        // The relay calls what its operators tell it to: every operator could move the tokens.
        if (account == relay) revert ERC721InvalidOperator(account);
    }
}
